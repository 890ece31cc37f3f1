import { PassThrough } from 'node:stream'
import { type Gateway, GuardError, type Notice, type Reader } from 'guard-gateway/core'
import { LRU } from 'tiny-lru'
import { writer } from '#lib/ids'
import { writeJson } from '#lib/json'
import { cleanNotice } from '#lib/notifier'
import { currentPrincipal, everyProject, visibleProjects } from '#lib/principal'
import { type TraceEvent, toolRecords } from '#lib/trace'
import { replayErrors } from '../error-codes.ts'
import type { RunRow } from '../tables.ts'
import { NS_PER_MS, nowNs } from '../time.ts'
import { dataOf, type EventV1, eventV1 } from './events.ts'
import { type Sent, SentMessages, type StreamKind, sentAt } from './sent-messages.ts'

const MAX_LISTENERS = 32
/** At most four messages per second and run. */
const THROTTLE_MS = 250
const COMMENT_MS = 15_000
const POLL_MS = 2_000
const MAX_UNSENT = 65_536
/** Notices of one message round; more are seen on the pages. */
const MAX_NOTICES = 20
const RESET = 'Earlier messages are no longer available. Reload what you show.'
/** Limit of remembered events, which prevents duplicates. */
const MAX_SENT_EVENTS = 10_000
/** Messages are retained this long after the last listener disconnects, because it may reconnect. */
const LINGER_MS = 60_000

/** Sends changes to listeners. */
export class Stream {
  readonly #gateway: Gateway
  readonly #listeners = new Map<PassThrough, Listener>()
  readonly #changed = new Map<string, RunRow>()
  /** By event and subject. */
  readonly #notices = new Map<string, Notice>()
  #hasStartedCalls = false
  #flushTimer: NodeJS.Timeout | undefined
  #timers: readonly NodeJS.Timeout[] = []
  readonly #sent: SentMessages
  #lingering: NodeJS.Timeout | undefined
  /** Milliseconds since 1970. */
  #events_until = 0
  /** Start of the first listener for events. */
  #events_since_ns = 0n
  readonly #runs: ChangedRuns
  readonly #sentEvents = new LRU<true>(MAX_SENT_EVENTS)

  constructor(gateway: Gateway) {
    this.#gateway = gateway
    this.#runs = new ChangedRuns(gateway)
    this.#sent = new SentMessages(() => gateway.clock.now())
  }

  get size(): number {
    return this.#listeners.size
  }

  /** Whether there are listeners, or recent ones that may reconnect. */
  get hasListeners(): boolean {
    return this.#listeners.size > 0 || this.#lingering !== undefined
  }

  /** The same for listeners of events. */
  get hasEventListeners(): boolean {
    if (!this.hasListeners) return false
    for (const { kind } of this.#listeners.values()) if (kind === 'events') return true
    return this.#gateway.clock.tick() < this.#events_until
  }

  /**
   * Opens a stream for a listener; `close` it with its connection. `last_id`: last received message. The stream first sends
   * missed messages, or a `reset` if they are unknown, and then the runs written since. Throws STREAM_FULL.
   */
  open(kind: StreamKind, last_id?: string): PassThrough {
    if (this.#listeners.size >= MAX_LISTENERS) throw new GuardError(replayErrors.STREAM_FULL)
    if (!(kind === 'events' ? this.hasEventListeners : this.hasListeners)) this.#forget(kind)
    const stream = new PassThrough({ highWaterMark: MAX_UNSENT })
    this.#listeners.set(stream, listenerNow(this.#gateway, kind))
    stream.on('error', () => {})
    stream.once('close', () => this.close(stream))
    if (this.#timers.length === 0) everyProject(() => this.#begin())
    clearTimeout(this.#lingering)
    this.#lingering = undefined
    if (last_id === undefined) stream.write(`: listening\nid: ${this.#sent.id}\n\n`)
    else this.#resume(stream, kind, last_id)
    return stream
  }

  close(stream: PassThrough): void {
    const kind = this.#listeners.get(stream)?.kind
    if (kind === undefined) return
    this.#listeners.delete(stream)
    stream.destroy()
    if (kind === 'events') this.#events_until = this.#gateway.clock.tick() + LINGER_MS
    if (this.#listeners.size === 0) this.#lingering = setTimeout(() => this.#pause(), LINGER_MS).unref()
  }

  runWritten(row: RunRow): void {
    if (!this.hasListeners) return
    this.#changed.set(row.trace_id, row)
    this.#flushTimer ??= setTimeout(() => this.#flush(), THROTTLE_MS).unref()
  }

  /** A model request has started and nothing is stored yet. */
  callStarted(): void {
    if (!this.hasListeners) return
    this.#hasStartedCalls = true
    this.#flushTimer ??= setTimeout(() => this.#flush(), THROTTLE_MS).unref()
  }

  /** Something happened that a person may want to know. */
  noticed(notice: Notice): void {
    if (!this.hasListeners || this.#notices.size >= MAX_NOTICES) return
    this.#notices.set(`${notice.event} ${notice.subject}`, notice)
    this.#flushTimer ??= setTimeout(() => this.#flush(), THROTTLE_MS).unref()
  }

  /** An event was stored, here or by another process; a known one is not sent again. */
  eventStored(event: EventV1): void {
    this.#sentEvents.set(keyOf(event, event), true)
    this.#send('events', [this.#sent.add('events', 'event', writeJson(event), event.project_id)])
  }

  end(): void {
    for (const stream of this.#listeners.keys()) stream.end()
    this.#listeners.clear()
    this.#pause()
  }

  #flush(): void {
    this.#flushTimer = undefined
    const messages = Array.from(this.#changed.values(), (row) =>
      this.#sent.add('runs', 'run.updated', dataOf(row), row.project_id),
    )
    this.#changed.clear()
    if (this.#hasStartedCalls) messages.push(this.#sent.add('runs', 'call.begun', '{}'))
    this.#hasStartedCalls = false
    for (const notice of this.#notices.values())
      messages.push(
        this.#sent.add(
          'runs',
          'notice',
          writeJson(cleanNotice(this.#gateway.redact, notice)),
          notice.project_id ?? null,
        ),
      )
    this.#notices.clear()
    this.#send('runs', messages)
  }

  #send(kind: StreamKind, messages: readonly Sent[]): void {
    for (const [stream, listener] of this.#listeners)
      if (listener.kind === kind) this.#write(stream, textFor(listener, messages))
  }

  #write(stream: PassThrough, text: string): void {
    if (text === '') return
    const isOver = this.#listeners.get(stream)?.mayListen() === false
    if (isOver || stream.writableLength + stream.readableLength > MAX_UNSENT) this.close(stream)
    else stream.write(text)
  }

  /** Drops the retained messages of a kind. */
  #forget(kind: StreamKind): void {
    this.#sent.forget(kind)
    if (kind === 'runs') return
    this.#events_since_ns = nowNs(this.#gateway.clock)
    this.#sentEvents.clear()
  }

  #resume(stream: PassThrough, kind: StreamKind, last_id: string): void {
    stream.write(': listening\n\n')
    const missed = this.#sent.after(kind, last_id)
    const listener = this.#listeners.get(stream)
    if (missed !== undefined && listener !== undefined) {
      stream.write(textFor(listener, missed))
      return
    }
    stream.write(`id: ${this.#sent.id}\nevent: reset\ndata: ${writeJson({ message: RESET })}\n\n`)
    const sent_at = sentAt(last_id)
    if (kind === 'runs' && sent_at !== undefined) void this.#catchUp(stream, BigInt(sent_at) * NS_PER_MS)
  }

  /** Sends runs written since then, without ids, to a listener after a reset. */
  async #catchUp(stream: PassThrough, since_ns: bigint): Promise<void> {
    try {
      const rows = await this.#runs.since(since_ns)
      const text = rows.map((row) => `event: run.updated\ndata: ${dataOf(row)}\n\n`).join('')
      if (this.#listeners.has(stream)) stream.write(text)
    } catch (error) {
      this.#gateway.fault(error, 'replay:stream')
    }
  }

  #begin(): void {
    this.#runs.begin()
    this.#timers = [
      setInterval(() => this.#comment(), COMMENT_MS).unref(),
      setInterval(() => void this.poll(), POLL_MS).unref(),
    ]
  }

  #comment(): void {
    for (const stream of this.#listeners.keys()) this.#write(stream, ': still here\n\n')
  }

  #pause(): void {
    for (const timer of this.#timers) clearInterval(timer)
    this.#timers = []
    clearTimeout(this.#flushTimer)
    clearTimeout(this.#lingering)
    this.#flushTimer = undefined
    this.#lingering = undefined
    this.#changed.clear()
    this.#notices.clear()
  }

  /** Reads what other processes have written since the last poll. */
  async poll(): Promise<void> {
    try {
      for await (const row of this.#runs.elsewhere()) await this.#writtenElsewhere(row)
    } catch (error) {
      this.#gateway.fault(error, 'replay:stream')
    }
  }

  async #writtenElsewhere(row: RunRow): Promise<void> {
    this.runWritten(row)
    if (!this.hasEventListeners) return
    for (const event of await newestEvents(this.#gateway.storage, row.trace_id, this.#events_since_ns))
      if (!this.#sentEvents.has(keyOf(row, event))) this.eventStored(eventV1(event, row))
  }
}

const keyOf = ({ trace_id }: Pick<RunRow, 'trace_id'>, { id }: Pick<EventV1, 'id'>): string => `${trace_id} ${id}`

/** Limit per table. */
const MAX_EVENTS = 200

/** Newest events of a run and its tool calls, in chronological order; not older than `since_ns`, nanoseconds since 1970. */
const newestEvents = async (storage: Reader, trace_id: string, since_ns: bigint): Promise<readonly TraceEvent[]> => {
  const [events, tools] = await Promise.all([
    storage.find('events', { where: { trace_id }, limit: MAX_EVENTS }),
    storage.has('mcp_audit')
      ? storage.find('mcp_audit', { where: { trace_id, traced: true }, limit: MAX_EVENTS })
      : { rows: [] },
  ])
  return [...events.rows, ...tools.rows.map((record) => toolRecords(record).event)]
    .filter(({ time_ns }) => time_ns >= since_ns)
    .sort((a, b) => Number(a.time_ns - b.time_ns))
}

/** Who listens to a stream. */
interface Listener {
  readonly kind: StreamKind
  /** The projects that they see; null: all. */
  readonly projects: readonly string[] | null
  /** Their key still holds. */
  readonly mayListen: () => boolean
}

/** Whoever asks now. */
const listenerNow = (gateway: Gateway, kind: StreamKind): Listener => {
  const principal = currentPrincipal()
  const principals = gateway.service('principals').get()
  const mayListen = (): boolean => principal === undefined || principals?.holds(principal) !== false
  return { kind, projects: visibleProjects(), mayListen }
}

/** Of messages what a listener may see, as text. */
const textFor = ({ projects }: Listener, messages: readonly Sent[]): string =>
  messages
    .filter(({ project_id }) => projects === null || project_id === undefined || projects.includes(project_id ?? ''))
    .map(({ text }) => text)
    .join('')

const PAGE_ROWS = 200
/** A row of another host may commit after rows that were changed later. */
const LATE_NS = 5_000_000_000n
/** Runs of other processes whose last state is remembered. */
const MAX_SEEN = 2_000

/** Runs that have changed since a time, and those that other processes have changed since the last look. */
class ChangedRuns {
  readonly #gateway: Gateway
  #looked_ns = 0n
  /** Runs of other processes as they were last read. */
  readonly #seen = new LRU<string>(MAX_SEEN)

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** What changes from now on is found. */
  begin(): void {
    this.#looked_ns = nowNs(this.#gateway.clock)
  }

  /** The first runs that have changed since then. */
  async since(updated_ns: bigint): Promise<readonly RunRow[]> {
    const { rows } = await this.#gateway.storage.find('runs', {
      where: { updated_ns: { gte: updated_ns } },
      order: ['updated_ns', 'asc'],
      limit: PAGE_ROWS,
    })
    return rows
  }

  /** Gives the runs that other processes have changed since the last look, each state once. */
  async *elsewhere(): AsyncGenerator<RunRow> {
    const late_ns = this.#gateway.service('cluster').get() === undefined ? 0n : LATE_NS
    let from = this.#looked_ns - late_ns
    for (let isFull = true; isFull; from = this.#looked_ns) {
      const rows = await this.since(from)
      for (const row of rows) if (this.#isNew(row)) yield row
      const last = rows.at(-1)?.updated_ns ?? 0n
      this.#looked_ns = last >= this.#looked_ns ? last + 1n : this.#looked_ns
      isFull = rows.length === PAGE_ROWS
    }
  }

  #isNew({ trace_id, revision, updated_ns, writer: last }: RunRow): boolean {
    if (last === writer) return false
    const state = `${revision} ${updated_ns}`
    if (this.#seen.get(trace_id) === state) return false
    this.#seen.set(trace_id, state)
    return true
  }
}
