import type { Gateway, Plugin } from 'guard-gateway/core'
import { type OtlpReceiverOptions, routes } from './routes.ts'

export type { OtlpReceiverOptions } from './routes.ts'

/** Takes traces from OpenTelemetry exporters at `/v1/traces` and keeps them as runs. */
export const otlp = (options: OtlpReceiverOptions = {}): Plugin => ({
  name: 'otlp',
  requires: ['http', 'replay'],
  apply(gateway: Gateway) {
    gateway.hooks.http.tapPromise('otlp', async (app) => void (await app.register(routes(gateway, options))))
  },
})
