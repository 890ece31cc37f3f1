import type { IncomingMessage } from 'node:http'
import { type ApiStyle, GuardError } from 'guard-gateway/core'
import type { HttpServerState } from '../http-server-state.ts'
import { refuseDuplicateHeaders } from './duplicate-headers.ts'
import type { RouteClass } from './route-class.ts'
import { checkTarget, pathOf, refuseDotSegments, withoutQueryKey } from './target.ts'

/** Checks every request before its body is read; `style`: whose path it is. Throws the first reason to refuse it. */
export const admit = (state: HttpServerState, request: IncomingMessage, kind: RouteClass, style?: ApiStyle): void => {
  if (request.httpVersionMajor > 1) throw new GuardError('INVALID_REQUEST', HTTP2)
  refuseFaultyFraming(request)
  checkTarget(withoutQueryKey(request.url ?? '', style?.credential?.query).target, state.gateway.secrets)
  // only these are forwarded; elsewhere a path is ids, which dots and slashes may be part of
  if (kind === 'model') {
    refuseDotSegments(request.url ?? '')
    state.modelPaths.refuseEncoding(pathOf(request.url ?? ''))
  }
  refuseDuplicateHeaders(request.rawHeaders)
  // orchestrators name the address of a container, or nothing; they learn nothing either
  if (kind === 'health') return
  state.checkHostHeader(request.headers.host)
  state.checkOrigin(request, kind)
}

/** Connections on which a request was framed faultily: what came behind it has been parsed already. */
const faulty = new WeakSet<object>()

/** RFC 9112, 6.1: nothing behind such a request on its connection can be trusted. Throws INVALID_REQUEST. */
const refuseFaultyFraming = ({ httpVersionMinor, headers, socket }: IncomingMessage): void => {
  if (httpVersionMinor === 0 && headers['transfer-encoding'] !== undefined) faulty.add(socket)
  if (faulty.has(socket)) throw new GuardError('INVALID_REQUEST', HTTP10, { headers: { connection: 'close' } })
}

const HTTP10 = 'HTTP/1.0 knows no Transfer-Encoding. Send Content-Length, or ask by HTTP/1.1.'

/** Only the server of a host application speaks it. */
const HTTP2 =
  'The gateway speaks HTTP/1.1 alone, and this request came by HTTP/2. Ask by HTTP/1.1, or give the gateway a server of its own.'
