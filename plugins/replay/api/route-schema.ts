import type { FastifySchema } from 'fastify'
import { GuardError } from 'guard-gateway/core'

/** Schema of a route of Replay. */
export const routeSchema = (
  summary: string,
  more: FastifySchema = {},
): FastifySchema & { readonly summary: string } => ({
  summary,
  ...{ tags: ['replay'] },
  ...more,
})

/** Rejects unknown parameters, because a misspelled one would be ignored. Throws UNKNOWN_FILTER. */
export const checkParameters = (query: Readonly<Record<string, unknown>>, known: readonly string[]): void => {
  const odd = Object.keys(query).find((name) => !known.includes(name))
  if (odd !== undefined)
    throw new GuardError('UNKNOWN_FILTER', `There is no parameter "${odd}"; there is ${known.join(', ') || 'none'}.`, {
      known,
    })
}
