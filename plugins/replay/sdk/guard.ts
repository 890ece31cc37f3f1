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
import { contextHeaders } from './headers.ts'
import type { Recording } from './recording.ts'
import type { TraceRecord } from './records.ts'
import { type Report, reporter } from './reports.ts'
import { Sender } from './sender.ts'
import { keyOf, type Settings, settingsOf } from './settings.ts'
import { attributesAndCallback, RecordedSpan, type SpanArguments } from './span.ts'
import { TraceFactory } from './trace-factory.ts'
import { Tracer } from './tracer.ts'
import { given, toolAttributes } from './usage.ts'

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
  #toldClosed = false

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
    const attributes = given({
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
    if (!this.#toldClosed)
      this.#report(new GuardUseError('CLOSED', 'The guard is closed, so nothing more is recorded.'))
    this.#toldClosed = true
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
