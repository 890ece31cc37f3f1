import { hostname } from 'node:os'
import { cutText } from 'guard-gateway/text'
import type { Batch, Entry } from './backlog.ts'
import type { Cleaner, Path } from './cleaner.ts'
import { GuardIngestError, type IngestFault } from './errors.ts'
import type { Recording } from './recording.ts'
import type { ArtifactRecord, EventRecord, SpanRecord } from './records.ts'
import type { Report } from './reports.ts'
import { type Answer, post, type RequestOptions } from './request.ts'

/** Delays before the retries of a request, in ms. Jitter: up to 25 % in both directions. */
const RETRY_MS = [200, 1_000, 5_000]

/** Numbers of records by what became of them. */
export interface Outcome {
  readonly sent: number
  readonly failed: number
  /** Sent, but the answer did not come: they may be stored. */
  readonly unknown: number
  /** The gateway gave no answer that settles the batch, so that the end of its trace may be missing. */
  readonly unanswered: boolean
}

/** Sends batches to the gateway, one request at a time. */
export class Delivery {
  readonly #request: Omit<RequestOptions, 'signal'>
  readonly #cleaner: Cleaner
  readonly #report: Report
  #stop = new AbortController()
  /** The failure of the last try. Undefined after a success. */
  #failure: Failure | undefined

  constructor(request: Omit<RequestOptions, 'signal'>, cleaner: Cleaner, report: Report) {
    this.#request = request
    this.#cleaner = cleaner
    this.#report = report
  }

  /** Aborts the batch in flight. The report includes `unsent` queued records. */
  abandon(unsent: number): void {
    this.#stop.abort()
    this.#stop = new AbortController()
    if (unsent > 0) this.#abandoned(unsent)
  }

  /** Never rejects. Failures are reported. */
  async deliver(batch: Batch): Promise<Outcome> {
    const { signal } = this.#stop
    const count = batch.entries.length
    try {
      return await this.#deliver(batch, signal)
    } catch (error) {
      return this.#failed(count, { status: null, code: 'HTTP_ERROR', path: null }, 'They could not be written.', error)
    }
  }

  async #deliver(batch: Batch, signal: AbortSignal): Promise<Outcome> {
    const { entries } = batch
    const encoded = encode(batch, this.#cleaner)
    const answer = await this.#tries(encoded.body, signal)
    if (answer.taken) return { ...NOTHING, sent: entries.length }
    if (signal.aborted) return this.#abandoned(entries.length, answer.unknown)
    if (answer.fault.status === 413 && entries.length > 1) return await this.#halves(batch, signal)
    const refused = immutableIn(answer, encoded)
    if (refused === undefined) return this.#lost(entries.length, answer)
    const one = this.#failed(1, answer.fault, answer.message)
    const rest = { ...batch, entries: entries.filter((entry) => entry !== refused) }
    return sum(one, rest.entries.length === 0 ? NOTHING : await this.#deliver(rest, signal))
  }

  async #halves(batch: Batch, signal: AbortSignal): Promise<Outcome> {
    const middle = Math.ceil(batch.entries.length / 2)
    const first = await this.#deliver({ ...batch, entries: batch.entries.slice(0, middle), last: false }, signal)
    return sum(first, await this.#deliver({ ...batch, entries: batch.entries.slice(middle) }, signal))
  }

  async #tries(body: string, signal: AbortSignal): Promise<Answer> {
    let answer = await this.#try(body, signal)
    for (const wait of RETRY_MS) {
      if (answer.taken || !answer.retry || signal.aborted) return answer
      await pause(Math.max(wait * (0.75 + Math.random() / 2), answer.wait_ms), signal)
      if (signal.aborted) return answer
      const { unknown } = answer
      answer = await this.#try(body, signal)
      // an earlier try may have been stored, unless the gateway says that it refuses the body
      if (!answer.taken && answer.retry) answer = { ...answer, unknown: unknown || answer.unknown }
    }
    return answer
  }

  async #try(body: string, signal: AbortSignal): Promise<Answer> {
    const answer = await post(body, { ...this.#request, signal })
    if (answer.taken) this.#failure = undefined
    else if (!signal.aborted) this.#failure = answer
    // a try that was broken off at a gateway that was not there before has not reached it either
    else if (this.#failure?.fault.status === null && !this.#failure.unknown) return { ...answer, unknown: false }
    return answer
  }

  /** Reports the last failure as the cause, such as a gateway that is not running, and the lack of time only without one. */
  #abandoned(count: number, unknown = false): Outcome {
    return this.#lost(count, { ...(this.#failure ?? { fault: ABANDONED, message: NO_TIME }), unknown, retry: true })
  }

  #lost(count: number, { fault, message, cause, unknown, retry }: Lost): Outcome {
    if (!unknown) return { ...this.#failed(count, fault, message, cause), unanswered: retry }
    const what = count === 1 ? '1 record was' : `${count} records were`
    if (count > 0)
      this.#report(new GuardIngestError(`It is not known whether ${what} stored. ${message}`, fault, cause))
    return { ...NOTHING, unknown: count, unanswered: true }
  }

  #failed(count: number, fault: IngestFault, why: string, cause?: unknown): Outcome {
    const what = `${count} ${count === 1 ? 'record was' : 'records were'} not stored`
    if (count > 0) this.#report(new GuardIngestError(`${what}. ${why}`, fault, cause))
    return { ...NOTHING, failed: count }
  }
}

type Untaken = Extract<Answer, { taken: false }>
type Failure = Pick<Untaken, 'fault' | 'message' | 'cause' | 'unknown'>
type Lost = Failure & Pick<Untaken, 'retry'>

const ABANDONED: IngestFault = { status: null, code: 'ABANDONED', path: null }
const NO_TIME = 'There was no more time to send them.'
const NOTHING: Outcome = { sent: 0, failed: 0, unknown: 0, unanswered: false }
const sum = (left: Outcome, right: Outcome): Outcome => ({
  sent: left.sent + right.sent,
  failed: left.failed + right.failed,
  unknown: left.unknown + right.unknown,
  unanswered: left.unanswered || right.unanswered,
})

const IMMUTABLE = new Map<string, 'spans' | 'events'>([
  ['SPAN_IMMUTABLE', 'spans'],
  ['EVENT_IMMUTABLE', 'events'],
])

/** The record with a reserved id that the gateway refused. */
const immutableIn = (answer: Answer, encoded: Encoded): Entry | undefined => {
  if (answer.taken || answer.fault.status !== 409) return undefined
  const list = IMMUTABLE.get(answer.fault.code)
  const index = /^\/(?:spans|events)\/(\d+)/.exec(answer.fault.path ?? '')?.[1]
  return list === undefined || index === undefined ? undefined : encoded[list][Number(index)]
}

/** Resolves after `ms`, or when `signal` aborts. Does not keep the process alive. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    timer.unref()
    signal.addEventListener('abort', end, { once: true })
  })

/** Limits of the gateway, in UTF-16 units. */
const NAME_CHARS = 256
const MESSAGE_CHARS = 2_000
const PATH_CHARS = 4_096
const STACK_CHARS = 4_000
const TAG_CHARS = 64
const MAX_TAGS = 64

/** A request body, and the records at each position in it. */
interface Encoded {
  readonly body: string
  /** Entries by index in `spans` and `events`. The first span is the root, which has no entry. */
  readonly spans: readonly (Entry | undefined)[]
  readonly events: readonly (Entry | undefined)[]
}

/** Encodes a batch as a request body. Every record has its id, so that a retry adds nothing twice. */
const encode = ({ recording, entries, last }: Batch, cleaner: Cleaner): Encoded => {
  const spans: (Entry | undefined)[] = [undefined]
  const events: Entry[] = []
  const open = recording.root.end_ns === undefined || !last
  const body = { ...head(recording, cleaner, open), spans: [root(recording, cleaner, open)], events: [] as object[] }
  const artifacts: object[] = []
  for (const entry of entries) {
    const { record } = entry
    if (record.kind === 'span') {
      spans.push(entry)
      body.spans.push(spanJson(record, cleaner))
    } else if (record.kind === 'event') {
      events.push(entry)
      body.events.push(eventJson(record, cleaner))
    } else if (record.kind === 'artifact') artifacts.push(artifactJson(record, cleaner))
  }
  return { body: JSON.stringify(artifacts.length === 0 ? body : { ...body, artifacts }), spans, events }
}

/** The fields of the run. A continued run keeps the fields that its own process sets. */
const head = (recording: Recording, cleaner: Cleaner, open: boolean): object => {
  const { info, root: span } = recording
  const tags = cleanTags(recording.tags, cleaner)
  const common = {
    trace_id: info.trace_id,
    project_id: info.project,
    tags: tags.length === 0 ? undefined : tags,
    failure_tag: recording.failureTag,
  }
  if (info.remote_parent !== undefined) return common
  return {
    ...common,
    session_id: info.session_id,
    task_id: optional(info.task_id, NAME_CHARS, ['task_id'], cleaner),
    agent_name: optional(info.agent, NAME_CHARS, ['agent_name'], cleaner),
    name: nameText(info.name, ['name'], cleaner),
    // the gateway uses it to detect that the client has exited
    writer: open ? `${hostname()}:${process.pid}` : undefined,
    status: open ? 'running' : span.status,
    attributes: cleaner.attributes(span.attributeSet, ['attributes']),
  }
}

const root = (recording: Recording, cleaner: Cleaner, open: boolean): object => {
  const json = spanJson(recording.root, cleaner)
  return open ? { ...json, status: 'running', status_message: undefined, end_ns: undefined } : json
}

const cleanTags = (tags: ReadonlySet<string>, cleaner: Cleaner): readonly string[] => {
  const clean = [...tags].map((tag) => cleaner.text(tag, TAG_CHARS, ['tags']).trim())
  return [...new Set(clean.filter((tag) => tag !== ''))].slice(0, MAX_TAGS)
}

const optional = (text: string | undefined, max: number, path: Path, cleaner: Cleaner): string | undefined =>
  text === undefined ? undefined : cleaner.text(text, max, path)

/** The gateway refuses records without a name. */
const nameText = (name: string, path: Path, cleaner: Cleaner): string =>
  cleaner.text(name, NAME_CHARS, path) || 'unnamed'

const spanJson = (span: SpanRecord, cleaner: Cleaner): object => ({
  id: span.id,
  parent_id: span.parent_id,
  name: nameText(span.name, ['span', 'name'], cleaner),
  status: span.status,
  status_message: optional(span.message, MESSAGE_CHARS, ['span', 'status_message'], cleaner),
  start_ns: String(span.start_ns),
  end_ns: span.end_ns === undefined ? undefined : String(span.end_ns),
  attributes: cleaner.attributes(span.attributeSet, ['span', 'attributes']),
})

const eventJson = (event: EventRecord, cleaner: Cleaner): object => {
  const attributes = cleaner.attributes(event.attributeSet, ['event', 'attributes'])
  const stack = attributes?.['exception.stacktrace']
  return {
    id: event.id,
    span_id: event.span_id,
    name: nameText(event.name, ['event', 'name'], cleaner),
    time_ns: String(event.time_ns),
    severity: event.severity,
    attributes:
      typeof stack === 'string' ? { ...attributes, 'exception.stacktrace': cutText(stack, STACK_CHARS) } : attributes,
  }
}

const artifactJson = (artifact: ArtifactRecord, cleaner: Cleaner): object => ({
  id: artifact.id,
  span_id: artifact.span_id,
  path: cleaner.text(artifact.path, PATH_CHARS, ['artifact', 'path']),
  mime_type: optional(artifact.mime_type, NAME_CHARS, ['artifact', 'mime_type'], cleaner),
  size: artifact.size,
  sha256: artifact.sha256,
  attributes: cleaner.attributes(artifact.attributeSet, ['artifact', 'attributes']),
})
