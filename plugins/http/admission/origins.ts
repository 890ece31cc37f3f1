import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { GuardError } from 'guard-gateway/core'
import type { RouteClass } from './route-class.ts'

/** Refuses requests that a web page of another origin has caused. Throws ORIGIN_NOT_ALLOWED. */
export type OriginJudge = (request: IncomingMessage, kind: RouteClass) => void

/**
 * `allowed`: origins that the MCP routes accept besides their own; absent or null, the loopback names with the port that is listened on.
 * The `Host` of a request must have been judged before.
 */
export const originJudge =
  (allowed: readonly string[] | null | undefined, port: () => number): OriginJudge =>
  (request, kind) => {
    if (kind === 'probe' || kind === 'model' || kind === 'receiver') return
    const { headers } = request
    const origin = headers.origin?.toLowerCase()
    const named = origin !== undefined && kind !== 'local' && kind !== 'page' && isListed(origin, allowed, port())
    if (origin !== undefined && !named && (kind === 'transport' || origin !== ownOrigin(request))) {
      throw new GuardError('ORIGIN_NOT_ALLOWED', howToList(kind))
    }
    if (kind !== 'transport' && !named && !isSameSite(headers) && !isFollowedLink(request, kind))
      throw new GuardError('ORIGIN_NOT_ALLOWED')
  }

/** What to do about an origin that a list could hold; undefined where there is no list. */
const howToList = (kind: RouteClass): string | undefined =>
  kind === 'transport' || kind === 'management'
    ? 'Requests from this web origin are refused. If it may speak MCP, list it in mcp.allowed_origins, as a browser sends it.'
    : undefined

const isListed = (origin: string, allowed: readonly string[] | null | undefined, port: number): boolean =>
  origin !== 'null' &&
  (allowed?.some((entry) => entry.toLowerCase() === origin) ?? loopbackOrigins(port).includes(origin))

const loopbackOrigins = (port: number): readonly string[] =>
  ['127.0.0.1', 'localhost', '[::1]'].map((name) => `http://${name}:${port}`)

const ownOrigin = ({ socket, headers }: IncomingMessage): string =>
  `${(socket as Partial<TLSSocket>).encrypted === true ? 'https' : 'http'}://${headers.host?.toLowerCase() ?? ''}`

/** What a browser says of where a request comes from; silence means that it is none. */
const isSameSite = (headers: IncomingHttpHeaders): boolean => {
  const site = headers['sec-fetch-site']
  return site === undefined || site === 'same-origin' || site === 'none'
}

/** Somebody followed a link from elsewhere to a page or an export; the page that holds the link cannot read the answer. */
const isFollowedLink = ({ method, headers, url = '' }: IncomingMessage, kind: RouteClass): boolean =>
  method === 'GET' &&
  (kind === 'page' || /^\/api\/[^?]*\/?export(?:[/?]|$)/.test(url)) &&
  headers['sec-fetch-mode'] === 'navigate' &&
  headers['sec-fetch-dest'] === 'document'
