import type { FastifySchema } from 'fastify'

/** What the API description says of a route of Replay. */
export const described = (summary: string, more: FastifySchema = {}): FastifySchema & { readonly summary: string } => ({
  summary,
  ...{ tags: ['replay'] },
  ...more,
})
