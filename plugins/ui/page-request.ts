import type { FastifyRequest } from 'fastify'
import type { Gateway } from 'guard-gateway/core'
import type { Ask } from 'guard-gateway/lib/page'

/** The query of a target; broken percent signs are taken as they stand. */
export const queryOf = (url: string): URLSearchParams => {
  const mark = url.indexOf('?')
  return new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1))
}

/** The path of a target. */
export const pathOf = (url: string): string => url.replace(/[?#].*$/s, '')

/** The request as a page gets it. */
export const askOf = (gateway: Gateway, request: FastifyRequest): Ask => ({
  params: request.params as Readonly<Record<string, string>>,
  query: queryOf(request.url),
  url: request.url,
  origin: `${schemeOf(request)}://${request.host}`,
  now: gateway.clock.now(),
})

/** For display to the client itself, so a proxy's header is trusted. */
const schemeOf = ({ protocol, headers }: FastifyRequest): string =>
  headers['x-forwarded-proto'] === 'https' ? 'https' : protocol
