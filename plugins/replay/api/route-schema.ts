import type { FastifySchema } from 'fastify'

/** Schema of a route of Replay. */
export const routeSchema = (
  summary: string,
  more: FastifySchema = {},
): FastifySchema & { readonly summary: string } => ({
  summary,
  ...{ tags: ['replay'] },
  ...more,
})
