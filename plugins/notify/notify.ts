import { type Gateway, GuardError, type Notice } from 'guard-gateway/core'
import type { NotifyResult } from 'guard-gateway/lib/notifier'
import { cleanNotice } from 'guard-gateway/lib/notifier'
import { sees, visibleProjects } from 'guard-gateway/lib/principal'
import type { Delivery, ReceiverHealth } from './delivery.ts'
import { Inbox } from './inbox.ts'
import { notificationOf } from './message.ts'
import type { NotifyOptions } from './options.ts'
import { connectReceivers } from './receivers.ts'
import { type Rule, receiversOf, rulesOf } from './rules.ts'
import { Throttle } from './throttle.ts'

/** How long an orderly end waits for receivers. */
const END_MS = 2_000
const MAX_LATEST = 50

/** A notice of late, as it was told. */
export interface TimedNotice extends Required<Notice> {
  readonly at: number
}

/** A notice on its way through a rule. */
interface Routed extends TimedNotice {
  readonly to: readonly string[]
}

type ActiveRule = Rule & { readonly throttle: Throttle<Routed> }

/** What became of a test at one receiver. */
export interface Tested {
  readonly receiver: string
  readonly outcome: NotifyResult['outcome']
  readonly error: string | null
}

/** Takes notices, finds their receivers and sends them, all of it behind the backs of requests. */
export class Notify {
  readonly #gateway: Gateway
  readonly #options: NotifyOptions
  readonly #inbox = new Inbox<{ readonly notice: Notice; readonly at: number }>(({ notice, at }) =>
    this.#route(notice, at),
  )
  readonly #rules: readonly ActiveRule[]
  #deliveries: ReadonlyMap<string, Delivery> | undefined
  #latest: readonly TimedNotice[] = []
  #listening = ''

  constructor(gateway: Gateway, options: NotifyOptions) {
    this.#gateway = gateway
    this.#options = options
    this.#rules = rulesOf(options.rules ?? [], Object.keys(options.receivers ?? {})).map((rule) => ({
      ...rule,
      throttle: new Throttle<Routed>(gateway.clock, rule.every_ms, (notice, held, since) =>
        this.#send(notice, held, since),
      ),
    }))
  }

  /** The receivers, connected when they are first asked for. Throws INVALID_CONFIG for one that cannot be used. */
  get deliveries(): ReadonlyMap<string, Delivery> {
    this.#deliveries ??= connectReceivers(this.#gateway, this.#options.receivers ?? {})
    return this.#deliveries
  }

  /** Notices of late that whoever asks may see, the newest first. */
  get latest(): readonly TimedNotice[] {
    return visibleProjects() === null ? this.#latest : this.#latest.filter(({ project_id }) => sees(project_id))
  }

  /** Remembers a notice; the rest is done in turns of its own. */
  readonly take = (notice: Notice): void => this.#inbox.add({ notice, at: this.#gateway.clock.now() })

  /** The gateway listens at this address. */
  listens(url: string): void {
    this.#listening = url
  }

  health() {
    const receivers = [...(this.#deliveries?.values() ?? [])].map((delivery) => delivery.health())
    const failing = receivers.filter(({ status }) => status === 'failing')
    return {
      status: failing.length === 0 ? 'ok' : 'failing',
      ...(failing.length === 0 ? {} : { error: { message: failing.map(troubleOf).join(' ') } }),
      queued: receivers.reduce((sum, { queued }) => sum + queued, 0),
      held: this.#rules.reduce((sum, { throttle }) => sum + throttle.held, 0),
      overrun: this.#inbox.overrun,
      receivers,
    }
  }

  /** Sends a message to one receiver, or to each, at once and beside rules and queues. Throws UNKNOWN for a receiver that there is not. */
  async test(receiver?: string): Promise<readonly Tested[]> {
    const receivers = this.#named(receiver)
    await this.#gateway.service('audit').get()?.note({ action: 'notifier.tested', subject: receiver })
    const notice = {
      event: 'test',
      subject: 'test',
      text: 'This is a test by Guard.',
      path: '/notify',
      project_id: null,
    }
    const notification = notificationOf(notice, { at: this.#gateway.clock.now(), base: this.#base })
    return Promise.all(
      receivers.map(async (delivery) => {
        const result = await delivery.test(notification)
        const error = result.outcome === 'delivered' ? null : result.error
        return { receiver: delivery.name, outcome: result.outcome, error }
      }),
    )
  }

  /** Sends what is held back and what waits, for two seconds at most. */
  async end(): Promise<void> {
    this.#inbox.flush()
    for (const { throttle } of this.#rules) throttle.end()
    const deliveries = [...(this.#deliveries?.values() ?? [])]
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, END_MS)
    await Promise.race([late, Promise.all(deliveries.map((delivery) => delivery.end()))])
    clearTimeout(timer)
    for (const delivery of deliveries) delivery.stop()
  }

  get #base(): string {
    return (this.#options.base_url || this.#listening).replace(/\/$/, '')
  }

  #named(name: string | undefined): readonly Delivery[] {
    if (name === undefined) return [...this.deliveries.values()]
    const delivery = this.deliveries.get(name)
    if (delivery !== undefined) return [delivery]
    const known = [...this.deliveries.keys()]
    throw new GuardError('UNKNOWN', `There is no receiver "${name}"; there is ${known.join(', ') || 'none'}.`, {
      known,
    })
  }

  #route(notice: Notice, at: number): void {
    const clean = { ...cleanNotice(this.#gateway.redact, notice), at }
    this.#latest = [clean, ...this.#latest.slice(0, MAX_LATEST - 1)]
    for (const { rule, to } of receiversOf(this.#rules, clean)) rule.throttle.take({ ...clean, to })
  }

  #send({ to, at, ...notice }: Routed, held: number, since: number): void {
    const notification = notificationOf(notice, { at, base: this.#base, more: held, since })
    for (const name of to) this.deliveries.get(name)?.add(notification)
  }
}

const troubleOf = ({ name, dropped, failed, last_error }: ReceiverHealth): string => {
  const lost = dropped + failed
  return `"${name}" is not reached${lost === 0 ? '' : `, ${lost} ${lost === 1 ? 'message is' : 'messages are'} lost`}: ${last_error?.message ?? ''}`
}
