import type { Gateway, Plugin } from 'guard-gateway/core'
import type { ReceiverOptions } from './receiver-options.ts'

export type { ReceiverOptions } from './receiver-options.ts'

export interface OtlpPushOptions {
  /** Without one nothing is tapped, loaded or remembered. */
  readonly receivers: readonly ReceiverOptions[]
  /** Of this gateway, told as the version of the scope. */
  readonly version: string
}

/** Sends every span once, when it has ended, to receivers of OTLP over HTTP. */
export const otlpPush = ({ receivers, version }: OtlpPushOptions): Plugin => ({
  name: 'otlp-push',
  requires: ['replay'],
  apply(gateway: Gateway) {
    if (receivers.length === 0) return
    gateway.hooks.open.tapPromise('otlp-push', async () => {
      const { Push } = await import('./push.ts')
      new Push(gateway, receivers, version).begin()
    })
  },
})
