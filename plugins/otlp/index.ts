import type { Gateway, Plugin } from 'guard-gateway/core'
import type { OtlpReceiverOptions } from './routes.ts'
import type { Ignored } from './signals.ts'

export type { OtlpReceiverOptions } from './routes.ts'

/** Receives traces from OpenTelemetry exporters at `/v1/traces` and stores them as runs. */
export const otlp = (options: OtlpReceiverOptions = {}): Plugin => ({
  name: 'otlp',
  requires: ['http', 'replay'],
  apply(gateway: Gateway) {
    const ignored: Ignored = { logs: 0, metrics: 0 }
    gateway.health.set('otlp', () => ({ ignored_logs: ignored.logs, ignored_metrics: ignored.metrics }))
    gateway.hooks.http.tapPromise('otlp', async (app) => {
      const { routes } = await import('./routes.ts')
      await app.register(routes(gateway, options, ignored))
    })
  },
})
