import { type Gateway, GuardError, type Plugin, stages, statusOf } from 'guard-gateway/core'
import { serverDefaults } from '#lib/config-defaults'
import { socketRouteKind } from '#lib/http'
import { socketErrors } from './error-codes.ts'
import { OpenConnections } from './open-connections.ts'
import { ResponseForwards } from './response-forwards.ts'

const BEAT_MS = 30_000
/** Some clients give up by then. */
const HANDSHAKE_MS = 15_000

export interface ResponsesSocketOptions {
  /** Connections there may be. */
  readonly websocket_connections?: number
  /** The longest message of a client, in bytes, as sent and inflated. */
  readonly body_limit_bytes?: number
  /** How often both sides of a connection are asked for a sign of life. */
  readonly beat_ms?: number
  /** How long an upstream may take to answer a handshake. */
  readonly handshake_ms?: number
}

/** The Responses API over WebSocket: each `response.create` is one guarded request. What serves it is loaded with the first handshake. */
export const responsesSocket = ({
  websocket_connections = serverDefaults.websocket_connections,
  body_limit_bytes = serverDefaults.body_limit_bytes,
  beat_ms = BEAT_MS,
  handshake_ms = HANDSHAKE_MS,
}: ResponsesSocketOptions = {}): Plugin => ({
  name: 'responses-socket',
  requires: ['http', 'upstream', 'api-style/responses'],
  apply(gateway: Gateway) {
    gateway.errorCodes.add(...Object.values(socketErrors))
    const connections = new OpenConnections(beat_ms)
    const forwards = new ResponseForwards()
    const refused = new Map<number, number>()
    const count = (status: number): void => void refused.set(status, (refused.get(status) ?? 0) + 1)
    const context = {
      gateway,
      connections,
      forwards,
      most: websocket_connections,
      max_bytes: body_limit_bytes,
      handshake_ms,
      refused: count,
    }
    gateway.registry(socketRouteKind).add({
      id: 'responses',
      paths: ['/v1/responses'],
      open: async (upgrade) => {
        try {
          const { shakeHands } = await import('./handshake.ts')
          await shakeHands(context, upgrade)
        } catch (error) {
          count(error instanceof GuardError ? statusOf(error) : 500)
          throw error
        }
      },
    })
    gateway.health.set('websockets', () => ({
      connections: connections.size,
      refused: Object.fromEntries(refused),
    }))
    gateway.hooks.drain.tapPromise('responses-socket', () => connections.drain())
    gateway.hooks.close.tap({ name: 'responses-socket', stage: stages.close.streams }, () => connections.destroy())
  },
})
