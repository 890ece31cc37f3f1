import type { Gateway } from 'guard-gateway/core'
import { jsonObjectOf } from 'guard-gateway/lib/json'
import { gauge, type Metric } from './samples.ts'

/** How many WebSockets are open, and what became of the handshakes that were refused. */
export const webSocketMetrics = (gateway: Gateway): readonly Metric[] => {
  const section = () => jsonObjectOf(gateway.health.get('websockets')?.())
  return [
    gauge('guard_websockets_open', 'Open WebSockets of clients.', [], () => {
      const { connections } = section()
      return typeof connections === 'number' ? [[[], connections]] : []
    }),
    gauge(
      'guard_websockets_refused_total',
      'Handshakes that were refused, by the status of the answer.',
      ['status'],
      () =>
        Object.entries(jsonObjectOf(section().refused)).map(([status, count]) => [[status], Number(count)] as const),
      'counter',
    ),
  ]
}
