import { type Gateway, GuardError } from 'guard-gateway/core'
import { childEnv } from 'guard-gateway/lib/child-env'
import { notifierKind } from 'guard-gateway/lib/notifier'
import { type UpstreamClient, upstreamClientKind } from 'guard-gateway/lib/upstream-client'
import { Delivery } from './delivery.ts'
import type { ReceiverOptions } from './options.ts'

/** Connects each configured receiver. Throws INVALID_CONFIG for one that cannot be used, with its place. */
export const connectReceivers = (
  gateway: Gateway,
  receivers: Readonly<Record<string, ReceiverOptions>>,
): ReadonlyMap<string, Delivery> =>
  new Map(
    Object.entries(receivers).map(([name, { notifier: id, ...options }]) => {
      const notifier = gateway.registry(notifierKind).need(id)
      for (const secret of notifier.secrets ?? []) gateway.secrets.add(textOf(options[secret]))
      const context = {
        clock: gateway.clock,
        env: () => childEnv(process.env, gateway).env,
        client: () => clientOf(gateway),
      }
      try {
        return [name, new Delivery(gateway, name, id, notifier.connect(options, context))]
      } catch (error) {
        if (!(error instanceof TypeError)) throw error
        const path = `notify.receivers.${name}`
        throw new GuardError('INVALID_CONFIG', `${path}: ${gateway.redact.text(error.message)}.`, {
          path,
          cause: error,
        })
      }
    }),
  )

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const clientOf = (gateway: Gateway): UpstreamClient => {
  const [client] = gateway.registry(upstreamClientKind)
  if (client !== undefined) return client
  throw new GuardError(
    'MISSING_PLUGIN',
    'Plugin "notify" needs one that speaks HTTP, for example upstream-clients/undici.',
  )
}
