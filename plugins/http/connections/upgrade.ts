import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { GuardError } from 'guard-gateway/core'
import { type SocketRoute, socketRouteKind } from '#lib/http'
import { admit } from '../admission/admit.ts'
import { canonicalTarget } from '../admission/canonical-target.ts'
import { classOf } from '../admission/route-class.ts'
import { decodedPath } from '../admission/target.ts'
import { httpErrors } from '../error-codes.ts'
import type { HttpServerState } from '../http-server-state.ts'
import { ModelSocketUpgrade } from '../models/socket-upgrade.ts'
import { SocketAnswer } from './socket-answer.ts'

/** Only WebSocket handshakes are examined; other upgrades may be ignored, and clients that offer them are served. */
export const wantsWebSocket = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === 'websocket'

/** Admits WebSocket handshakes like any request, and hands them to whoever serves WebSockets at their path. */
export const serveUpgrades = (state: HttpServerState, server: Server): void => {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
    serveUpgrade(state, request, socket, head),
  )
}

export const serveUpgrade = (state: HttpServerState, request: IncomingMessage, socket: Duplex, head: Buffer): void => {
  // a client may disconnect during the response
  socket.on('error', () => socket.destroy())
  state.authProxy?.take(request)
  const answer = new SocketAnswer(state, request, socket)
  try {
    const { route, path } = admitted(state, request, answer)
    void open(state, { request, socket, head, path }, answer, route)
  } catch (error) {
    answer.refuse(error)
  }
}

/** Whether a handshake is to a path of the gateway's, in a server that has others too. */
export const servesUpgrade = (state: HttpServerState, request: IncomingMessage): boolean => {
  const path = decodedPath(canonicalTarget(state, request))
  return (
    wantsWebSocket(request) &&
    (path.startsWith('/v1/') || [...state.gateway.registry(socketRouteKind)].some(({ paths }) => paths.includes(path)))
  )
}

const MODEL_PATH = /^(?:\/v1){0,2}(\/[^/].*?)\/?$/

/** Throws the first reason to refuse a handshake. */
const admitted = (
  state: HttpServerState,
  request: IncomingMessage,
  answer: SocketAnswer,
): { readonly route: SocketRoute; readonly path: string } => {
  request.url = canonicalTarget(state, request)
  const spelled = decodedPath(request.url)
  const kind = classOf(spelled)
  admit(state, request, kind)
  // CORS holds no page back from a WebSocket, so that no foreign one may begin it, whatever key it shows
  state.checkOrigin(request, 'local')
  const path = kind === 'model' ? `/v1${MODEL_PATH.exec(spelled)?.[1] ?? ''}` : spelled
  const route = [...state.gateway.registry(socketRouteKind)].find(({ paths }) => paths.includes(path))
  if (route !== undefined || path === RESPONSES) answer.route = path
  if (route !== undefined) {
    checkHandshake(request)
    return { route, path }
  }
  // its clients begin with a WebSocket, and take this answer as a wish for plain requests
  if (path === RESPONSES) throw new GuardError(httpErrors.UPGRADE_REQUIRED)
  throw new GuardError('INVALID_REQUEST', 'There is no WebSocket at this path.')
}

const RESPONSES = '/v1/responses'
const KEY = /^[+/0-9A-Za-z]{22}==$/

/** Throws METHOD_NOT_ALLOWED, INVALID_HEADER. */
const checkHandshake = ({ method, headers }: IncomingMessage): void => {
  if (method !== 'GET') throw new GuardError('METHOD_NOT_ALLOWED', undefined, { headers: { allow: 'GET' } })
  if (!KEY.test(headers['sec-websocket-key'] ?? ''))
    throw new GuardError('INVALID_HEADER', 'The header sec-websocket-key is no key. Send 16 bytes in Base64.')
  if (headers['sec-websocket-version'] !== '13')
    throw new GuardError('INVALID_HEADER', 'The header sec-websocket-version is another one than 13.', {
      headers: { 'sec-websocket-version': '13' },
    })
}

const open = async (
  state: HttpServerState,
  handshake: {
    readonly request: IncomingMessage
    readonly socket: Duplex
    readonly head: Buffer
    readonly path: string
  },
  answer: SocketAnswer,
  route: SocketRoute,
): Promise<void> => {
  try {
    const upgrade = await ModelSocketUpgrade.of(state, handshake, answer)
    await route.open(upgrade)
  } catch (error) {
    answer.refuse(error)
  }
}
