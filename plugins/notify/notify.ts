import { type Clock, type Gateway, GuardError, type Notice } from 'guard-gateway/core'
import { basicEnv } from '#lib/child-env'
import { newId } from '#lib/ids'
import { cleanNotice, type Notification, type NotifyResult, notifierKind } from '#lib/notifier'
import { sees } from '#lib/principal'
import { type UpstreamClient, upstreamClientKind } from '#lib/upstream-client'
import { Delivery, type ReceiverHealth } from './delivery.ts'
import { Inbox } from './inbox.ts'
import type { NotifyOptions, ReceiverOptions, RuleOptions } from './options.ts'

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
  readonly #latest: (Notice & { readonly at: number })[] = []
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
    return this.#latest
      .map(({ at, ...notice }) => ({ ...cleanNotice(this.#gateway.redact, notice), at }))
      .filter(({ project_id }) => sees(project_id))
      .reverse()
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
    this.#latest.push({ ...notice, at })
    if (this.#latest.length > MAX_LATEST) this.#latest.shift()
    if (this.#rules.every(({ to }) => to.length === 0)) return
    const clean = { ...cleanNotice(this.#gateway.redact, notice), at }
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

/** What goes to receivers. `more`: how many notices like it were held back since `since`. */
const notificationOf = (
  notice: Required<Notice>,
  { at, base, more = 0, since = at }: Readonly<{ at: number; base: string; more?: number; since?: number }>,
): Notification => ({
  ...notice,
  id: newId('ntf_', at),
  at,
  text: more > 1 ? `${more} like it since ${timeOf(since)} UTC, the last: ${notice.text}` : notice.text,
  url: base === '' ? '' : base + notice.path,
  count: Math.max(1, more),
})

const timeOf = (at: number): string => new Date(at).toISOString().slice(11, 16)

const DEFAULT_MINUTES = 5
const MS_PER_MINUTE = 60_000

/** A rule that is ready to be asked. */
interface Rule {
  readonly every_ms: number
  matches(notice: Required<Notice>): boolean
  /** Names of receivers. */
  readonly to: readonly string[]
}

/** Reads rules; without one, everything goes to every receiver. */
const rulesOf = (rules: readonly RuleOptions[], receivers: readonly string[]): readonly Rule[] =>
  (rules.length === 0 ? [{}] : rules).map(({ events = [], projects = [], to = [], every_minutes }) => ({
    every_ms: (every_minutes ?? DEFAULT_MINUTES) * MS_PER_MINUTE,
    to: to.length === 0 ? receivers : to,
    matches: ({ event, project_id }) =>
      (events.length === 0 || events.includes(event)) &&
      (projects.length === 0 || project_id === null || projects.includes(project_id)),
  }))

/** The receivers of a notice by the rule that decides for them: the first that matches. */
const receiversOf = <R extends Rule>(
  rules: readonly R[],
  notice: Required<Notice>,
): readonly { readonly rule: R; readonly to: readonly string[] }[] => {
  const decided = new Set<string>()
  return rules
    .filter((rule) => rule.matches(notice))
    .map((rule) => ({ rule, to: rule.to.filter((name) => decided.size !== decided.add(name).size) }))
    .filter(({ to }) => to.length > 0)
}

/** Connects each configured receiver. Throws INVALID_CONFIG for one that cannot be used, with its place. */
const connectReceivers = (
  gateway: Gateway,
  receivers: Readonly<Record<string, ReceiverOptions>>,
): ReadonlyMap<string, Delivery> =>
  new Map(
    Object.entries(receivers).map(([name, { notifier: id, ...options }]) => {
      const notifier = gateway.registry(notifierKind).need(id)
      for (const secret of notifier.secrets ?? []) gateway.secrets.add(textOf(options[secret]))
      const context = {
        clock: gateway.clock,
        env: () => basicEnv(process.env, gateway),
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

/** Subjects that are known at once; those beyond share one. */
const MAX_SUBJECTS = 1_000
/** Messages of one rule in its time; what comes then is put together by its event. */
const MAX_BURST = 20

/** Something that may come too often. */
interface Throttled {
  readonly event: string
  readonly subject: string
}

/** A subject that has been told of. */
interface Subject<T> {
  /** By the monotonic clock. */
  until: number
  /** Wall time of the last message. */
  since: number
  held: number
  last: T
}

/** What passes: one thing at once, or the last of those that were held back since then. */
type Passed<T> = (item: T, held: number, since: number) => void

/**
 * Lets one thing about a subject pass in a time. What comes meanwhile is held back, counted, and passes as one when the time is over:
 * nothing is lost, however much comes.
 */
class Throttle<T extends Throttled> {
  readonly #clock: Clock
  readonly #every_ms: number
  readonly #pass: Passed<T>
  readonly #subjects = new Map<string, Subject<T>>()
  #burst = 0
  #burst_until = 0
  #timer: NodeJS.Timeout | undefined

  constructor(clock: Clock, every_ms: number, pass: Passed<T>) {
    this.#clock = clock
    this.#every_ms = every_ms
    this.#pass = pass
  }

  /** How many are held back. */
  get held(): number {
    let held = 0
    for (const subject of this.#subjects.values()) held += subject.held
    return held
  }

  take(item: T): void {
    const tick = this.#clock.tick()
    this.#release(tick)
    const subject = this.#subjects.get(`${item.event} ${item.subject}`) ?? this.#shared(item, tick)
    if (subject === undefined) {
      this.#burst++
      this.#tell(`${item.event} ${item.subject}`, item, tick)
      return
    }
    subject.held++
    subject.last = item
  }

  /** Lets everything pass that is held back, and waits for nothing any more. */
  end(): void {
    clearTimeout(this.#timer)
    for (const { last, held, since } of this.#subjects.values()) if (held > 0) this.#pass(last, held, since)
    this.#subjects.clear()
  }

  /** In a burst, or where there are too many subjects, that of all of its event. */
  #shared(item: T, tick: number): Subject<T> | undefined {
    if (tick >= this.#burst_until) {
      this.#burst = 0
      this.#burst_until = tick + this.#every_ms
    }
    if (this.#burst < MAX_BURST && this.#subjects.size < MAX_SUBJECTS) return undefined
    const shared = this.#subjects.get(item.event)
    return shared ?? this.#keep(item.event, item, tick)
  }

  #tell(key: string, item: T, tick: number): void {
    this.#keep(key, item, tick)
    this.#pass(item, 0, this.#clock.now())
  }

  #keep(key: string, last: T, tick: number): Subject<T> {
    const subject = { until: tick + this.#every_ms, since: this.#clock.now(), held: 0, last }
    this.#subjects.set(key, subject)
    this.#timer ??= setTimeout(() => this.#wake(), this.#every_ms).unref()
    return subject
  }

  #wake(): void {
    this.#timer = undefined
    const tick = this.#clock.tick()
    this.#release(tick)
    const [next] = this.#subjects.values()
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (next !== undefined) this.#timer = setTimeout(() => this.#wake(), Math.max(1, next.until - tick)).unref()
  }

  /** Those whose time is over, the oldest first: they stand in the order in which they were told. */
  #release(tick: number): void {
    for (const [key, subject] of this.#subjects) {
      if (subject.until > tick) return
      this.#subjects.delete(key)
      const { last, held, since } = subject
      if (held === 0) continue
      this.#keep(key, last, tick)
      this.#pass(last, held, since)
    }
  }
}
