import type { Gateway, Plugin } from 'guard-gateway/core'
import type { AuditPlace, ReceiverOptions } from './receiver-options.ts'

export type { AuditPlace, ReceiverOptions } from './receiver-options.ts'

export interface OtlpPushOptions {
  /** Without receivers the plugin does nothing. */
  readonly receivers: readonly ReceiverOptions[]
  /** Gateway version, sent as the scope's version. */
  readonly version: string
}

export interface AuditPushOptions {
  /** Without places the plugin does nothing. */
  readonly places: readonly AuditPlace[]
  readonly version: string
}

/** Passes on every record of the MCP audit as it comes: to receivers of OTLP logs, and to files of one record a line. */
export const auditPush = ({ places, version }: AuditPushOptions): Plugin => ({
  name: 'audit-push',
  requires: ['mcp'],
  apply(gateway: Gateway) {
    if (places.length === 0) return
    gateway.hooks.open.tapPromise('audit-push', async () => {
      const { startAuditPush } = await import('./audit-push.ts')
      startAuditPush(gateway, places, version)
    })
  },
})

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
