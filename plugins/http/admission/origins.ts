import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { GuardError } from 'guard-gateway/core'
import { httpErrors } from '../error-codes.ts'
import { asName } from './hosts.ts'
import type { RouteClass } from './route-class.ts'

/** Refuses requests that a web page of another origin has caused. Throws ORIGIN_NOT_ALLOWED. */
export type OriginCheck = (request: IncomingMessage, kind: RouteClass) => void

/** What a configuration says of web origins. */
export interface OriginRules {
  /** Origins of the gateway's own pages where a proxy in front of it ends TLS. */
  readonly own: readonly string[]
  /** Host names under which a proxy may serve these pages: `https://<name>` is their origin where the request names that host. */
  readonly hosts: readonly string[]
  /** Origins that the MCP routes accept besides their own; null or undefined: the loopback names with the port that is listened on, and `own`. */
  readonly mcp: readonly string[] | null | undefined
  /** The port that is listened on. */
  readonly port: () => number
  /** The scheme that is listened by. */
  readonly scheme: 'http' | 'https'
}

/** The `Host` of a request must have been judged before. */
export const originCheck = ({ own, hosts, mcp, port, scheme }: OriginRules): OriginCheck => {
  const ours = lowered(own)
  const proxyHosts = new Set(hosts.map(asName))
  const listed = mcp === null || mcp === undefined ? undefined : lowered(mcp)
  const speaksMcp = (origin: string): boolean =>
    listed?.has(origin) ?? (ours.has(origin) || loopbackOrigins(scheme, port()).includes(origin))
  const isOwn = (origin: string, request: IncomingMessage): boolean =>
    ours.has(origin) || origin === ownOrigin(request) || isBehindTls(origin, request, proxyHosts)
  const isNamed = (origin: string | undefined, kind: RouteClass): boolean =>
    origin !== undefined && (kind === 'transport' || kind === 'management') && origin !== 'null' && speaksMcp(origin)
  return (request, kind) => {
    if (kind === 'probe' || kind === 'model' || kind === 'receiver') return
    const origin = request.headers.origin?.toLowerCase()
    const named = isNamed(origin, kind)
    if (origin !== undefined && !named && (kind === 'transport' || !isOwn(origin, request)))
      throw new GuardError(httpErrors.ORIGIN_NOT_ALLOWED, howToList(kind))
    // pages elsewhere may speak MCP; of its own a browser says that they are the same site
    const isElsewhere = named && !ours.has(origin ?? '')
    if (kind !== 'transport' && !isElsewhere && !isSameSite(request.headers) && !isFollowedLink(request, kind))
      throw new GuardError(httpErrors.ORIGIN_NOT_ALLOWED)
  }
}

const lowered = (origins: readonly string[]): ReadonlySet<string> =>
  new Set(origins.map((origin) => origin.toLowerCase()).filter((origin) => origin !== 'null'))

/** What to do about an origin that a list could hold. */
const howToList = (kind: RouteClass): string => {
  const refused = 'Requests from this web origin are refused.'
  const mcp = 'If it may speak MCP, list it in mcp.allowed_origins, as a browser sends it.'
  if (kind === 'transport') return `${refused} ${mcp}`
  const pages = `If a proxy serves the gateway's own pages there, list it in server.allowed_origins, as https://guard.example.`
  return kind === 'management' ? `${refused} ${pages} ${mcp}` : `${refused} ${pages}`
}

const loopbackOrigins = (scheme: string, port: number): readonly string[] =>
  ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${scheme}://${name}:${port}`)

/** Where the proxy in front says that it was asked by TLS, a page without it is another one. */
const ownOrigin = ({ socket, headers }: IncomingMessage): string | undefined =>
  headers['x-forwarded-proto'] === 'https' ? undefined : directOrigin(socket, headers)

const directOrigin = (socket: Socket, headers: IncomingHttpHeaders): string =>
  `${(socket as Partial<TLSSocket>).encrypted === true ? 'https' : 'http'}://${headers.host?.toLowerCase() ?? ''}`

/** The origin is the host that the request names, and that a proxy may serve by TLS. A page of another host never has it. */
const isBehindTls = (origin: string, { headers }: IncomingMessage, names: ReadonlySet<string>): boolean => {
  const host = headers.host?.toLowerCase().replace(/:443$/, '') ?? ''
  return origin === `https://${host}` && names.has(host.replace(/:\d+$/, ''))
}

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
