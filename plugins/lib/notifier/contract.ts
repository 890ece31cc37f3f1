import { type Clock, contribution, Kind, type Notice, type Plugin } from 'guard-gateway/core'
import type { UpstreamClient } from 'guard-gateway/lib/upstream-client'
import type { Static, TSchema } from 'typebox'

/** A notice on its way to a receiver: redacted, each text on one line and cut. */
export interface Notification extends Required<Notice> {
  /** The same at each attempt; letters, digits and `_`. */
  readonly id: string
  /** When it happened, milliseconds since 1970. */
  readonly at: number
  /** The whole address of the page; empty where nobody knows that of the gateway. */
  readonly url: string
  /** How many notices it stands for. */
  readonly count: number
}
/** What became of an attempt. `wait_ms`: what the receiver asks for. */
export type NotifyResult =
  | { readonly outcome: 'delivered' }
  | { readonly outcome: 'retryable' | 'rejected'; readonly error: string; readonly wait_ms?: number | null }
/** A configured receiver. */
export interface NotifyTarget {
  /** How people read of it, without secrets. */
  readonly shown: string
  /** One attempt. One that rejects may be tried again; `signal` ends it, also for taking too long. */
  send(notification: Notification, signal: AbortSignal): Promise<NotifyResult>
  close?(): void
}
/** A way to tell people; `notifier` of a receiver chooses it, and `schema` says what else stands there, `secrets` which of it is secret. */
export interface Notifier<Options extends TSchema = TSchema> {
  readonly id: string
  readonly schema: Options
  readonly secrets?: readonly string[]
  /** Throws TypeError for options that cannot be used. `env`: for children, without keys. `client` throws MISSING_PLUGIN where nothing speaks HTTP. */
  connect(
    options: Static<Options>,
    of: { readonly clock: Clock; env(): Readonly<Record<string, string>>; client(): UpstreamClient },
  ): NotifyTarget
}

export const notifierKind = new Kind<Notifier>('notifier', { schema: 'object', 'secrets?': 'list', connect: 'prompt' })

const notifierContribution = contribution('notifier', notifierKind)

/** A notifier whose options take their type from the schema beside them. */
export const notifier = <O extends TSchema = TSchema>(entry: Notifier<O>): Notifier<O> & Plugin =>
  notifierContribution(entry as Notifier) as unknown as Notifier<O> & Plugin
