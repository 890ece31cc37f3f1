import type { FastifyRequest } from 'fastify'
import type { Gateway } from 'guard-gateway/core'
import type { Ask } from 'guard-gateway/lib/page'

/** Query of a target; invalid percent signs are literal. */
export const queryOf = (url: string): URLSearchParams => {
  const mark = url.indexOf('?')
  return new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1))
}

export const pathOf = (url: string): string => url.replace(/[?#].*$/s, '')

export const pageRequest = (gateway: Gateway, request: FastifyRequest): Ask => ({
  params: request.params as Readonly<Record<string, string>>,
  query: queryOf(request.url),
  url: request.url,
  origin: `${schemeOf(request)}://${request.host}`,
  now: gateway.clock.now(),
})

/** A proxy's header is trusted, because the result is only displayed to the client itself. */
const schemeOf = ({ protocol, headers }: FastifyRequest): string =>
  headers['x-forwarded-proto'] === 'https' ? 'https' : protocol
