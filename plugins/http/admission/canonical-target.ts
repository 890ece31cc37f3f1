import type { IncomingMessage } from 'node:http'
import type { HttpServerState } from '../http-server-state.ts'
import { needsKey } from './route-class.ts'
import { decodedPath, pathOf } from './target.ts'

const ABSOLUTE = /^https?:\/\/([^/?#@\\]+)(?=[/?]|$)/i
const REPEATED_SLASHES = /\/{2,}/g

/**
 * The target of a request as routes are matched with it. A target in absolute form that names a host of this gateway loses it, and
 * slashes that a client has doubled become one on the paths of programs: base addresses end in one. Everything else stays, to be refused.
 */
export const canonicalTarget = (state: HttpServerState, request: IncomingMessage): string => {
  const target = request.url ?? ''
  const local = target.startsWith('/') ? target : withoutAuthority(state, request, target)
  return withSingleSlashes(state, local)
}

/** What an absolute form names is the host of the request, whatever its header says (RFC 9112, 3.2.2). */
const withoutAuthority = (state: HttpServerState, request: IncomingMessage, target: string): string => {
  const [start = '', authority = ''] = ABSOLUTE.exec(target) ?? []
  if (start === '' || !isOurs(state, authority)) return target
  // a request of HTTP/1.1 needs the header all the same
  if (request.headers.host !== undefined || request.httpVersion === '1.0') request.headers.host = authority
  const rest = target.slice(start.length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

const isOurs = (state: HttpServerState, authority: string): boolean => {
  try {
    state.checkHostHeader(authority)
    return true
  } catch {
    return false
  }
}

const withSingleSlashes = (state: HttpServerState, target: string): string => {
  const path = pathOf(target)
  if (!path.includes('//')) return target
  const plain = path.replace(REPEATED_SLASHES, '/')
  const { modelPaths } = state
  const decoded = decodedPath(plain)
  if (!needsKey(modelPaths.kindOf(decoded)) || state.passesThrough(decodedPath(path))) return target
  // within parameters slashes mean what they say: a part of one may not be empty
  const prefix = modelPaths.prefixAt(decoded)
  const parameters = prefix === '' ? '' : plain.slice(prefix.length - 1)
  return path.endsWith(parameters) ? plain + target.slice(path.length) : target
}
