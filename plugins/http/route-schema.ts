import type { FastifySchema } from 'fastify'

/** The schema of a route with its summary in the API description. */
export const routeSchema = (
  summary: string,
  more: FastifySchema = {},
): FastifySchema & { readonly summary: string } => ({
  summary,
  ...more,
})

/** The schema of a route that the API description leaves out: an alias of another route, or nothing to call. */
export const hiddenSchema: FastifySchema & { readonly hide: boolean } = { hide: true }
