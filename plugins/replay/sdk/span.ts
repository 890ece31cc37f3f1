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
import { AttributeSet } from './attribute-set.ts'
import { GuardUseError } from './errors.ts'
import { newRecordId } from './ids.ts'
import type { Recording } from './recording.ts'
import type { ArtifactRecord, EventRecord, SpanRecord, TraceRecord } from './records.ts'
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

const FAILURE_TAGS: readonly unknown[] = ['loop', 'timeout', 'rate_limit', 'policy_block', 'test_failure']

const isFailureTag = (tag: unknown): tag is FailureTag => FAILURE_TAGS.includes(tag)

interface ArtifactTaken {
  /** Undefined if the artifact cannot be recorded. */
  readonly record?: ArtifactRecord
  /** The omitted parts, and the reason. */
  readonly wrong?: string
}

/** The record of an artifact, without values that the gateway would refuse. */
const artifactRecord = (artifact: Artifact, span_id: string | undefined): ArtifactTaken => {
  const { path, mimeType, size, sha256, attributes } = artifact
  if (typeof path !== 'string' || path === '') return { wrong: 'An artifact without a path was left out.' }
  const attributeSet = new AttributeSet()
  attributeSet.add(attributes)
  const isSize = size === undefined || (Number.isSafeInteger(size) && size >= 0)
  const isDigest = sha256 === undefined || /^[0-9a-f]{64}$/i.test(sha256)
  const record: ArtifactRecord = {
    kind: 'artifact',
    id: newRecordId('art_'),
    span_id,
    path: boundedText(path),
    mime_type: mimeType === undefined ? undefined : boundedText(String(mimeType)),
    size: isSize ? size : undefined,
    sha256: isDigest ? sha256?.toLowerCase() : undefined,
    attributeSet,
  }
  if (isSize && isDigest) return { record }
  const wrong = isSize ? 'sha256 must be 64 hex digits' : 'size must be a whole number of bytes'
  return { record, wrong: `Part of an artifact was left out: ${wrong}.` }
}

/** The recorded fields of a thrown value. */
interface Thrown {
  /** Class of an error, else the type of the value. */
  readonly type: string
  readonly message: string
  readonly stack: string | undefined
  /** `code` if it is a string, else the type. Failures are grouped by it. */
  readonly code: string
}

/** Describes any thrown value. Never throws, even if accessors of the value do. */
const describeThrown = (thrown: unknown): Thrown => {
  if (typeof thrown !== 'object' || thrown === null) {
    const type = thrown === null ? 'null' : typeof thrown
    return { type, message: boundedText(String(thrown)), stack: undefined, code: type }
  }
  const type = textOf(thrown, 'name') ?? className(thrown)
  const stack = textOf(thrown, 'stack')
  return {
    type,
    message: boundedText(textOf(thrown, 'message') ?? ''),
    stack: stack === undefined ? undefined : boundedText(stack),
    code: textOf(thrown, 'code') ?? type,
  }
}

const textOf = (object: object, name: string): string | undefined => {
  try {
    const value: unknown = Reflect.get(object, name)
    return typeof value === 'string' && value !== '' ? value : undefined
  } catch {
    return undefined
  }
}

const className = (object: object): string => {
  try {
    return object.constructor.name
  } catch {
    return 'Object'
  }
}
