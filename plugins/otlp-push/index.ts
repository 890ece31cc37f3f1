import type { Gateway, Plugin } from 'guard-gateway/core'
import type { ReceiverOptions } from './receiver-options.ts'

export type { ReceiverOptions } from './receiver-options.ts'

export interface OtlpPushOptions {
  /** Without receivers the plugin does nothing. */
  readonly receivers: readonly ReceiverOptions[]
  /** Gateway version, sent as the scope's version. */
  readonly version: string
}

/** Exports every ended span once, to OTLP/HTTP receivers. */
export const otlpPush = ({ receivers, version }: OtlpPushOptions): Plugin => ({
  name: 'otlp-push',
  requires: ['replay'],
  apply(gateway: Gateway) {
    if (receivers.length === 0) return
    gateway.hooks.open.tapPromise('otlp-push', async () => {
      const { Push } = await import('./push.ts')
      new Push(gateway, receivers, version).start()
    })
  },
})
