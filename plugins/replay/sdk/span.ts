import type {
  Artifact,
  Attributes,
  FailureTag,
  ModelResponse,
  ModelSpan,
  ModelUsage,
  Span,
  Status,
  Trace,
} from './api.ts'
import { artifactRecord } from './artifact.ts'
import { AttributeSet } from './attribute-set.ts'
import { GuardUseError } from './errors.ts'
import { describeThrown } from './exception.ts'
import { isFailureTag } from './failure-tag.ts'
import { newRecordId } from './ids.ts'
import type { Recording } from './recording.ts'
import type { EventRecord, SpanRecord, TraceRecord } from './records.ts'
import type { Report } from './reports.ts'
import { boundedText } from './snapshot.ts'
import { responseAttributes, usageAttributes } from './usage.ts'

/** Services of the guard for its spans. */
export interface SpanHost {
  readonly report: Report
  /** Last span of each thrown object. */
  readonly thrown: WeakMap<object, RecordedSpan>
  add(recording: Recording, record: TraceRecord): void
  ended(span: RecordedSpan): void
  span<T>(name: string, attributes: Attributes | undefined, fn: (span: Span) => T, parent: RecordedSpan): T
}

export interface SpanPlace {
  readonly recording: Recording
  readonly record: SpanRecord
  /** Receiver of an exception that leaves this span: its parent, or for a root the span it was opened in. */
  readonly above: RecordedSpan | undefined
  /** Root of a trace that was opened for this span and ends with it. */
  readonly alone?: RecordedSpan | undefined
  readonly byHand?: boolean
}

const STATUS = /^[a-z][a-z0-9_]{0,31}$/

/** An open span; a root is also the trace. */
export class RecordedSpan implements Trace, ModelSpan {
  readonly recording: Recording
  /** Tracer of the guard: spans of two guards do not mix. */
  readonly host: SpanHost
  readonly #record: SpanRecord
  readonly #above: RecordedSpan | undefined
  readonly #alone: RecordedSpan | undefined
  readonly #byHand: boolean
  #isReported = false
  /** A thrown primitive; the guard remembers objects. */
  #thrown: { readonly value: unknown } | undefined

  constructor(host: SpanHost, { recording, record, above, alone, byHand = false }: SpanPlace) {
    this.host = host
    this.recording = recording
    this.#record = record
    this.#above = above
    this.#alone = alone
    this.#byHand = byHand
  }

  get id(): string {
    return this.#record.id
  }
  get traceId(): string {
    return this.recording.info.trace_id
  }
  get hasEnded(): boolean {
    return this.#record.end_ns !== undefined
  }

  event(name: string, attributes?: Attributes): void {
    if (this.#isLate('event')) return
    const attributeSet = new AttributeSet()
    attributeSet.add(attributes)
    this.#addEvent(boundedText(String(name)), attributeSet)
  }

  set(attributes: Attributes): void {
    if (!this.#isLate('set')) this.#record.attributeSet.add(attributes)
  }

  status(status: Status, message?: string): void {
    if (this.#isLate('status')) return
    if (typeof status !== 'string' || !STATUS.test(status) || status === 'running') {
      this.#misused('INVALID_STATUS', `"${status}" is no status of a span. Use ok, error or another lower-case word.`)
      return
    }
    this.#record.status = status
    if (message !== undefined) this.#record.message = boundedText(String(message))
  }

  fail(error: unknown): void {
    if (this.#isLate('fail')) return
    this.#fail(error)
    if (this.#byHand) this.end()
  }

  span<T>(name: string, fn: (span: Span) => T): T
  span<T>(name: string, attributes: Attributes | undefined, fn: (span: Span) => T): T
  span<T>(name: string, ...rest: SpanArguments<T>): T {
    const [attributes, fn] = attributesAndCallback(rest)
    return this.host.span(name, attributes, fn, this)
  }

  usage(usage: ModelUsage): void {
    if (this.#isLate('usage')) return
    const { attributes, wrong } = usageAttributes(usage)
    this.#record.attributeSet.add(attributes)
    if (wrong !== undefined) this.#misused('INVALID_USAGE', wrong)
  }

  response(response: ModelResponse): void {
    if (!this.#isLate('response')) this.#record.attributeSet.add(responseAttributes(response))
  }

  artifact(artifact: Artifact): void {
    if (this.#isLate('artifact')) return
    const { record, wrong } = artifactRecord(artifact, this.#record.parent_id === undefined ? undefined : this.id)
    if (wrong !== undefined) this.#misused('INVALID_ARTIFACT', wrong)
    if (record !== undefined) this.host.add(this.recording, record)
  }

  tag(...tags: readonly string[]): void {
    if (!this.#isLate('tag')) for (const tag of tags) this.recording.tags.add(boundedText(String(tag)))
  }

  failureTag(tag: FailureTag): void {
    if (this.#isLate('failureTag')) return
    if (isFailureTag(tag)) this.recording.failureTag = tag
    else this.#misused('INVALID_FAILURE_TAG', `"${tag}" is no failure tag.`)
  }

  end(): void {
    if (this.hasEnded) return
    this.#record.end_ns = this.recording.clock()
    const isRoot = this.#record === this.recording.root
    this.host.add(this.recording, isRoot ? ROOT : this.#record)
    this.host.ended(this)
    if (this.#alone === undefined || this.#alone.hasEnded) return
    this.#alone.status(this.#record.status)
    this.#alone.end()
  }

  [Symbol.dispose](): void {
    this.end()
  }
  async [Symbol.asyncDispose](): Promise<void> {
    this.end()
  }

  /** An exception left the callback and the span. */
  leave(error: unknown): void {
    if (this.hasEnded) return
    this.#fail(error)
    this.end()
  }

  /** The process or the guard ends while the span is open. */
  cancel(by: string): void {
    if (this.hasEnded) return
    this.#record.status = 'cancelled'
    this.#record.attributeSet.put('sdk.ended_by', by)
    this.end()
  }

  #fail(error: unknown): void {
    this.#record.status = 'error'
    if (this.#hasSeen(error)) return
    const thrown = describeThrown(error)
    this.#record.attributeSet.put('error.type', thrown.code)
    this.#record.message = thrown.message
    const attributeSet = new AttributeSet()
    attributeSet.put('exception.type', thrown.type)
    attributeSet.put('exception.message', thrown.message)
    if (thrown.stack !== undefined) attributeSet.put('exception.stacktrace', thrown.stack)
    this.#addEvent('exception', attributeSet, 'error')
  }

  /** Whether an exception came from a child span, which has its event. The span is then recorded as its last. */
  #hasSeen(error: unknown): boolean {
    if ((typeof error === 'object' && error !== null) || typeof error === 'function') {
      const last = this.host.thrown.get(error)
      this.host.thrown.set(error, this)
      return last === undefined ? false : last.#passesUpTo(this)
    }
    const seen = this.#thrown !== undefined && Object.is(this.#thrown.value, error)
    this.#thrown = { value: error }
    if (this.#above !== undefined) this.#above.#thrown = this.#thrown
    return seen
  }

  #passesUpTo(span: RecordedSpan): boolean {
    if (this.recording === span.recording) return true
    for (let above = this.#above; above !== undefined; above = above.#above) if (above === span) return true
    return false
  }

  #addEvent(name: string, attributeSet: AttributeSet, severity?: EventRecord['severity']): void {
    this.host.add(this.recording, {
      kind: 'event',
      id: newRecordId('evt_'),
      span_id: this.id,
      name,
      time_ns: this.recording.clock(),
      severity,
      attributeSet,
    })
  }

  /** Reports once that calls after the end have no effect. */
  #isLate(call: string): boolean {
    if (!this.hasEnded) return false
    if (!this.#isReported)
      this.#misused('SPAN_ENDED', `${call}() was called on a span that has ended, and did nothing.`)
    this.#isReported = true
    return true
  }

  #misused(code: GuardUseError['code'], what: string): void {
    this.host.report(new GuardUseError(code, `${what} It is about span ${this.id} of trace ${this.traceId}.`))
  }
}

const ROOT: TraceRecord = { kind: 'root' }

/** Arguments of `span()` after the name. */
export type SpanArguments<T> =
  | readonly [fn: (span: Span) => T]
  | readonly [attributes: Attributes | undefined, fn: (span: Span) => T]

export const attributesAndCallback = <T>(
  rest: SpanArguments<T>,
): readonly [attributes: Attributes | undefined, fn: (span: Span) => T] =>
  rest.length === 1 ? [undefined, rest[0]] : rest
