import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { GuardError } from 'guard-gateway/core'
import { newId } from 'guard-gateway/lib/ids'
import { admit } from '../admission/guard.ts'
import { classOf } from '../admission/route-class.ts'
import { decodedPath } from '../admission/target.ts'
import type { HttpServerState } from '../http-server-state.ts'
import { rawResponse } from './errors.ts'

/** Only WebSocket handshakes are examined; other upgrades may be ignored, and clients that offer them are served. */
export const wantsWebSocket = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === 'websocket'

/** Turns WebSocket handshakes down: at once and in a way that makes clients of the Responses API send a plain request instead. */
export const refuseUpgrades = (state: HttpServerState, server: Server): void => {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    // a client may disconnect during the response
    socket.on('error', () => socket.destroy())
    socket.end(answer(state, request))
  })
}

const answer = (state: HttpServerState, request: IncomingMessage): string => {
  const path = decodedPath(request.url ?? '')
  try {
    admit(state, request, classOf(path))
  } catch (error) {
    return rawResponse(state.gateway, error instanceof GuardError ? error : new GuardError('INTERNAL'), 'close')
  }
  if (!/^(?:\/v1){0,2}\/responses\/?$/.test(path))
    return rawResponse(state.gateway, new GuardError('INVALID_REQUEST', 'There is no WebSocket at this path.'), 'close')
  state.log?.line('info', { method: 'GET', route: '/v1/responses', status: 426, code: 'UPGRADE_REQUIRED' })
  const head = ['HTTP/1.1 426 Upgrade Required', 'upgrade: HTTP/1.1', 'connection: upgrade, close', 'content-length: 0']
  return `${[...head, `x-guard-request-id: ${newId('guardreq_', state.gateway.clock.now())}`].join('\r\n')}\r\n\r\n`
}
