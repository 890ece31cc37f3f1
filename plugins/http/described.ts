import type { FastifySchema } from 'fastify'

/** The schema of a route that is told in one line of the API description, and what is sent and answered. */
export const described = (summary: string, more: FastifySchema = {}): FastifySchema & { readonly summary: string } => ({
  summary,
  ...more,
})

/** The schema of a route that the API description leaves out: another spelling of one that is in it, or nothing to call. */
export const undescribed: FastifySchema & { readonly hide: boolean } = { hide: true }
