import { AsyncLocalStorage } from 'node:async_hooks'
import type { Redactor } from 'guard-gateway/redact'
import type {
  Attributes,
  Guard,
  GuardOptions,
  ModelRequest,
  ModelSpan,
  Span,
  Stats,
  ToolCall,
  Trace,
  TraceOptions,
} from './api.ts'
import { Backlog } from './backlog.ts'
import { Cleaner, guardRedactor } from './cleaner.ts'
import { Delivery } from './delivery.ts'
import { GuardUseError } from './errors.ts'
import { onExit } from './exit.ts'
import { guardFetch } from './fetch.ts'
import { isName } from './ids.ts'
import type { Recording } from './recording.ts'
import type { TraceRecord } from './records.ts'
import { type Report, reporter } from './reports.ts'
import { keyOf, type Settings, settingsOf } from './settings.ts'
import { attributesAndCallback, RecordedSpan, type SpanArguments } from './span.ts'
import { traceparentOf } from './trace-context.ts'
import { type Defaults, TraceFactory } from './trace-factory.ts'
import { Tracer } from './tracer.ts'
import { defined, toolAttributes } from './usage.ts'

export type {
  Artifact,
  Attributes,
  FailureTag,
  Guard,
  GuardOptions,
  Leaf,
  ModelRequest,
  ModelResponse,
  ModelSpan,
  ModelUsage,
  Span,
  Stats,
  Status,
  ToolCall,
  Trace,
  TraceOptions,
} from './api.ts'
export { GuardIngestError, GuardUseError, type UseCode } from './errors.ts'

/** Maximum wait for the gateway at process exit, in ms. */
const EXIT_MS = 2_000

/** Creates the guard of a program. Never throws. Invalid options are reported. */
export const createGuard = (options: GuardOptions = {}): Guard => {
  const redactor = guardRedactor(keyOf(options, process.env))
  const report = reporter(options.onError, (text) => redactor.text(text))
  const settings = settingsOf(options, process.env, report)
  return new RecordingGuard(settings, redactor, report)
}

type TraceArguments<T> =
  | readonly [fn: (trace: Trace) => T]
  | readonly [options: TraceOptions | undefined, fn: (trace: Trace) => T]

type ToolArguments<T> = readonly [fn: (span: Span) => T] | readonly [args: unknown, fn: (span: Span) => T]

class RecordingGuard implements Guard {
  readonly fetch: typeof globalThis.fetch
  readonly #settings: Settings
  readonly #report: Report
  readonly #traceFactory: TraceFactory
  readonly #tracer: Tracer
  readonly #sender: Sender
  readonly #unlisten: () => void
  #closing: Promise<void> | undefined
  #warnedClosed = false

  constructor(settings: Settings, redactor: Redactor, report: Report) {
    this.#settings = settings
    this.#report = report
    this.#traceFactory = new TraceFactory(settings, redactor, report)
    this.#sender = senderOf(settings, redactor, report)
    this.#tracer = new Tracer({
      report,
      traceFactory: this.#traceFactory,
      add: settings.enabled ? (recording, record) => this.#add(recording, record) : () => {},
      ingested: (recording) => this.#sender.settled(recording),
    })
    this.fetch = guardFetch({
      origin: settings.origin,
      fetch: settings.fetch,
      headers: () => this.headers(),
      current: () => this.#tracer.current,
    })
    this.#unlisten =
      settings.enabled && settings.handleExit
        ? onExit({
            hasWork: () => this.#tracer.hasOpen || this.#sender.stats.queued > 0,
            exit: (by, forGood) => this.#leave(by, EXIT_MS, forGood),
          })
        : () => {}
  }

  trace<T>(name: string, fn: (trace: Trace) => T): Promise<Awaited<T>>
  trace<T>(name: string, options: TraceOptions | undefined, fn: (trace: Trace) => T): Promise<Awaited<T>>
  trace<T>(name: string, ...rest: TraceArguments<T>): Promise<Awaited<T>> {
    return rest.length === 1 ? this.#tracer.trace(name, undefined, rest[0]) : this.#tracer.trace(name, rest[0], rest[1])
  }

  span<T>(name: string, fn: (span: Span) => T): T
  span<T>(name: string, attributes: Attributes | undefined, fn: (span: Span) => T): T
  span<T>(name: string, ...rest: SpanArguments<T>): T {
    const [attributes, fn] = attributesAndCallback(rest)
    return this.#tracer.span(name, attributes, fn)
  }

  tool<T>(tool: string | ToolCall, fn: (span: Span) => T): T
  tool<T>(tool: string | ToolCall, args: unknown, fn: (span: Span) => T): T
  tool<T>(tool: string | ToolCall, ...rest: ToolArguments<T>): T {
    const [args, fn] = rest.length === 1 ? [undefined, rest[0]] : rest
    const recorded = this.#settings.recordArguments ? args : undefined
    return this.#tracer.span('tool.call', toolAttributes(tool, recorded), fn)
  }

  model<T>({ model, provider, operation = 'chat' }: ModelRequest, fn: (span: ModelSpan) => T): T {
    const attributes = defined({
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': provider,
      'gen_ai.request.model': model,
    })
    return this.#tracer.span('gen_ai.request', attributes, fn)
  }

  start(name: string, attributes?: Attributes, { parent }: { readonly parent?: Span | undefined } = {}): Span {
    // a parent of another guard would mix two traces
    const above = parent instanceof RecordedSpan && parent.host === this.#tracer ? parent : this.#tracer.current
    return this.#tracer.start(name, attributes, above, true)
  }

  current(): Span | undefined {
    return this.#tracer.current
  }

  wrap<F extends (...args: never[]) => unknown>(fn: F, name: string = fn.name || 'anonymous'): F {
    const tracer = this.#tracer
    const wrapped = function (this: unknown, ...args: never[]): unknown {
      return tracer.span(name, undefined, () => Reflect.apply(fn, this, args))
    }
    // the wrapped function keeps its name and length
    for (const property of ['name', 'length']) {
      Object.defineProperty(wrapped, property, { value: Reflect.get(fn, property), configurable: true })
    }
    return wrapped as F
  }

  headers(): Record<string, string> {
    return contextHeaders(this.#traceFactory.defaults, this.#settings.enabled ? this.#tracer.current : undefined)
  }

  flush(): Promise<void> {
    return this.#sender.flush()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  stats(): Stats {
    return this.#sender.stats
  }

  async #close(): Promise<void> {
    this.#unlisten()
    await this.#leave('close', this.#settings.ingestTimeoutMs, true)
  }

  /** Ends open spans and sends all records. `forGood` drops records that are not sent in time. */
  async #leave(by: string, timeout_ms: number, forGood: boolean): Promise<void> {
    this.#tracer.cancelAll(by)
    await this.#sender.flush(timeout_ms)
    if (forGood) await this.#sender.abandon()
  }

  #add(recording: Recording, record: TraceRecord): void {
    if (this.#closing === undefined) {
      this.#sender.add(recording, record)
      return
    }
    if (!this.#warnedClosed)
      this.#report(new GuardUseError('CLOSED', 'The guard is closed, so nothing more is recorded.'))
    this.#warnedClosed = true
  }
}

const senderOf = (settings: Settings, redactor: Redactor, report: Report): Sender => {
  const cleaner = new Cleaner(redactor, settings.mask, report)
  const request = { url: settings.ingestUrl, fetch: settings.fetch, timeout_ms: settings.ingestTimeoutMs }
  return new Sender({
    backlog: new Backlog(settings.maxQueue, report),
    delivery: new Delivery(request, cleaner, report),
    flush_ms: settings.flushMs,
    timeout_ms: settings.ingestTimeoutMs,
    outside: AsyncLocalStorage.snapshot(),
  })
}

/** The context headers for the gateway. `traceparent` needs a current span and a hex trace id. */
const contextHeaders = (defaults: Defaults, span: RecordedSpan | undefined): Record<string, string> => {
  const info = span?.recording.info
  const headers: Record<string, string> = {}
  const add = (name: string, value: string | undefined): void => {
    if (value !== undefined) headers[name] = value
  }
  if (span !== undefined) add('traceparent', traceparentOf(span.traceId, span.id))
  add('x-guard-session-id', info?.session_id ?? defaults.sessionId)
  add('x-guard-project-id', info?.project ?? defaults.project)
  const agent = info?.agent ?? defaults.agent
  // traces allow any agent name, but the gateway refuses such a header, and with it the request of the user
  if (agent !== undefined && isName(agent)) add('x-guard-agent-id', agent)
  return headers
}

/** Time limit for an aborted request, ms. */
const STOP_TIMEOUT_MS = 100
/** Traces whose end is remembered. */
const MAX_UNENDED = 100
/** Records that trigger a send before the timer. */
const SEND_AT = 100

interface SenderOptions {
  readonly backlog: Backlog
  readonly delivery: Delivery
  /** ms */
  readonly flush_ms: number
  /** Maximum wait for the gateway, ms. */
  readonly timeout_ms: number
  /** Runs work outside of the user's asynchronous contexts. */
  readonly outside: (work: () => void) => void
}

/** Sends queued records: after a delay, above a size, or on flush. */
class Sender {
  readonly #options: SenderOptions
  readonly #backlog: Backlog
  #timer: NodeJS.Timeout | undefined
  #running = false
  /** Resolves when nothing is in flight. */
  #idle: Promise<void> = Promise.resolve()
  /** The trace with records in flight. */
  #current: readonly Recording[] = []
  #onTheWay = 0
  #sent = 0
  #failed = 0
  #unknown = 0
  /** Ended traces whose end may not be stored. */
  readonly #unended = new Set<Recording>()

  constructor(options: SenderOptions) {
    this.#options = options
    this.#backlog = options.backlog
  }

  get stats(): Stats {
    return {
      queued: this.#backlog.size + this.#onTheWay,
      sent: this.#sent,
      dropped: this.#backlog.dropped,
      failed: this.#failed,
      unknown: this.#unknown,
    }
  }

  add(recording: Recording, record: TraceRecord): void {
    this.#backlog.add(recording, record)
    if (this.#running || this.#backlog.ready === 0) return
    if (this.#backlog.ready >= SEND_AT || recording.due) this.#wake()
    else if (this.#timer === undefined) this.#options.outside(() => this.#arm())
  }

  /** Resolves when the records of this trace are settled, at most `timeout_ms` later. */
  async settled(recording: Recording): Promise<void> {
    this.#wake()
    await withTimeout(this.#options.timeout_ms, recording.settled())
  }

  /** Sends all queued records; resolves when they are settled, at most `timeout_ms` later. */
  async flush(timeout_ms: number = this.#options.timeout_ms): Promise<void> {
    const concerned = this.#backlog.release()
    this.#wake()
    const settled = [...concerned, ...this.#current].map((recording) => recording.settled())
    const ended = Promise.all(settled).then(() => (this.#unended.size > 0 ? this.#idle : undefined))
    await withTimeout(timeout_ms, ended)
  }

  /** Drops all queued records and those in flight, and stops the timer; resolves when all are counted. */
  async abandon(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const entries = this.#backlog.clear()
    this.#failed += entries.length
    for (const { recording } of entries) recording.settle(1)
    this.#unended.clear()
    this.#options.delivery.abandon(entries.length)
    if (this.#running) await withTimeout(STOP_TIMEOUT_MS, this.#idle)
  }

  #arm(): void {
    this.#timer = setTimeout(() => this.#wake(), this.#options.flush_ms)
    this.#timer.unref()
  }

  #wake(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#running || (this.#backlog.ready === 0 && this.#unended.size === 0)) return
    this.#running = true
    // encoding a batch takes time, so it runs after the user's code
    this.#idle = new Promise((resolve) =>
      this.#options.outside(() => void setImmediate(() => void this.#run().then(resolve))),
    )
  }

  async #run(): Promise<void> {
    let reached = true
    for (let batch = this.#backlog.take(); batch !== undefined; batch = this.#backlog.take()) {
      const { recording, entries } = batch
      this.#current = [recording]
      this.#onTheWay = entries.length
      const { sent, failed, unknown, unanswered } = await this.#options.delivery.deliver(batch)
      this.#current = []
      this.#onTheWay = 0
      this.#sent += sent
      this.#failed += failed
      this.#unknown += unknown
      recording.mayBeStored ||= sent + unknown > 0
      if (unanswered) this.#noteEnd(recording)
      reached = !unanswered
      recording.settle(entries.length)
    }
    if (reached) await this.#sendEnds()
    this.#running = false
  }

  /** Remembers a trace whose end may be missing: it would stay `running`. */
  #noteEnd(recording: Recording): void {
    if (recording.mayBeStored && this.#unended.size < MAX_UNENDED) this.#unended.add(recording)
  }

  /** Sends the ends of traces again, after everything else. A repeated end changes nothing. */
  async #sendEnds(): Promise<void> {
    for (const recording of this.#unended) {
      if (recording.root.end_ns === undefined) continue
      const { unanswered } = await this.#options.delivery.deliver({ recording, entries: [], last: true })
      if (unanswered) return
      this.#unended.delete(recording)
    }
  }
}

/** Resolves with `work`, or after `ms`; keeps the process alive until then. */
const withTimeout = (ms: number, work: Promise<unknown>): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    void work.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
