import type { CallTrace } from 'guard-gateway/core'
import { type CallRecord, callRecords, type ToolRecord, toolRecords } from '#lib/trace'
import { bestTag, evidenceOfEvent, evidenceOfSpan, noTags, type TagState, withEvidence } from '../failures/tags.ts'
import type { ArtifactRow, EventRow, Provided, RunRow, SpanRow } from '../tables.ts'
import { NS_PER_MS } from '../time.ts'
import { isGuarded } from './run-row.ts'
import { RunSpans, type Sums } from './run-spans.ts'
import {
  addCallAttributes,
  addCallWords,
  addEventWords,
  addSpanWords,
  runWords,
  storedWords,
  toolWords,
} from './search-words.ts'
import { type CallFacts, factsOf, SumOnlyCalls, sameFacts } from './sum-only-calls.ts'
import { type SummedCall, spansOfCall, summedCall, summedSpan, summedTool } from './summed-span.ts'

const asItIs = (text: string): string => text

/** A model request or tool call whose record may not be stored yet. */
export type DeferredRecord = SummedCall | ToolRecord

/** The call is no evidence for a failure tag. */
const isClean = ({ decision, outcome }: CallRecord): boolean => decision === 'allow' && outcome === 'ok'

/** A run in memory: its row, and the state that updates its summary without reading its records again. */
export class OpenRun {
  #row: RunRow
  readonly #spans = new RunSpans()
  readonly words: RunWords
  tags: TagState = noTags
  #events = 0
  #artifacts = 0
  readonly #sumOnlyCalls = new SumOnlyCalls()
  /** A call of a model, a tool or a command is among its spans. */
  hasCalls = false
  /** The row is in storage. */
  stored: boolean
  /** It is the instance that `OpenRuns` holds under its id. */
  isOpen = false
  /** Requests that changed sums only, so that the row was not written with their records. */
  readonly deferredRecords: DeferredRecord[] = []
  /** Last use, on the monotonic clock, in milliseconds. */
  touched_at = 0
  /** No more requests join, because a newer run of its session has begun. */
  isFull = false
  /** Arrival of the newest model request that joined. */
  joined_at = 0
  /** When its row or its spans end, in milliseconds since 1970; computed on demand. */
  #ended_at: number | undefined

  constructor(row: RunRow, stored: boolean) {
    this.#row = row
    this.stored = stored
    this.words = new RunWords(row)
  }

  get row(): RunRow {
    return this.#row
  }

  set row(row: RunRow) {
    this.#row = row
    this.#changed()
  }

  get spans(): RunSpans {
    if (this.#sumOnlyCalls.size > 0) this.#sumUp()
    return this.#spans
  }

  /** Number of spans. */
  get size(): number {
    return this.#spans.size + this.#sumOnlyCalls.size
  }

  /** Estimated size in memory. */
  get bytes(): number {
    const records = Math.max(this.#sumOnlyCalls.size, this.deferredRecords.length)
    return runBytes({ spans: this.#spans.bytes, records, words: this.words.size })
  }

  /** Time of the last activity, in milliseconds since 1970. */
  get active_at(): number {
    this.#ended_at ??= this.#lastEnd()
    return Math.max(this.#ended_at, this.#sumOnlyCalls.ended_at, this.joined_at)
  }

  #lastEnd(): number {
    const { end_ns, updated_ns } = this.#row
    return Math.max(Number((end_ns ?? updated_ns) / NS_PER_MS), Number((this.spans.sums.end_ns ?? 0n) / NS_PER_MS))
  }

  #changed(): void {
    this.#sumOnlyCalls.forgetTemplate()
    this.#ended_at = undefined
  }

  addSpan(span: SpanRow): void {
    this.#changed()
    this.spans.set(summedSpan(span))
    this.hasCalls ||= isCall(span)
    this.tags = withEvidence(this.tags, evidenceOfSpan(span))
    this.words.addSpan(span)
  }

  addEvent(event: EventRow): void {
    this.#changed()
    this.#events++
    this.tags = withEvidence(this.tags, evidenceOfEvent(event))
    this.words.addEvent(event)
  }

  /** Replaces an event that was no evidence for a tag. */
  changeEvent(event: EventRow): void {
    this.addEvent(event)
    this.#events--
  }

  addArtifact(_artifact: ArtifactRow): void {
    this.#artifacts++
  }

  /** Adds a model request, the tool calls of its reply and its decision. */
  addCall(call: CallRecord, trace: CallTrace, redact: (text: string) => string = asItIs): void {
    this.#changed()
    this.#events++
    this.hasCalls = true
    this.words.addCall(call, trace, redact)
    if (isClean(call)) {
      addTo(this.spans, summedCall(call, trace))
      return
    }
    const { spans, event } = callRecords(call, trace)
    for (const span of spans) this.spans.set(summedSpan(span))
    this.tags = withEvidence(withEvidence(this.tags, evidenceOfSpan(spans[0])), evidenceOfEvent(event))
  }

  /** Remembers a request that changed sums only: requests with the same facts take the fast path. */
  noteSumOnly(call: CallRecord): void {
    if (this.row.status === 'ok') this.#sumOnlyCalls.setTemplate(call, Number(this.row.updated_ns / NS_PER_MS))
  }

  /** Adds a request that changes sums only. Undefined: the request needs `addCall`. */
  take(call: CallRecord, trace: CallTrace): SummedCall | undefined {
    const taken = this.#spans.isMissingParent(trace.span_id) ? undefined : this.#sumOnlyCalls.take(call, trace)
    if (taken !== undefined) this.#events++
    return taken
  }

  #sumUp(): void {
    this.#ended_at = undefined
    for (const call of this.#sumOnlyCalls.drain()) addTo(this.#spans, call)
  }

  /** Adds a tool call without new words and without evidence of failure. */
  addTool(record: ToolRecord): void {
    this.#ended_at = undefined
    this.#events++
    this.hasCalls = true
    this.spans.set(summedTool(record))
  }

  /** Adds a tool call read from storage; its span may have a row of its own. */
  addStoredTool(record: ToolRecord): void {
    this.#changed()
    const { span, event } = toolRecords(record)
    this.#events++
    this.hasCalls = true
    this.tags = withEvidence(this.tags, evidenceOfEvent(event))
    this.words.addTool(record)
    if (this.spans.get(span.id) !== undefined) return
    this.spans.set(summedSpan(span))
    this.tags = withEvidence(this.tags, evidenceOfSpan(span))
  }

  /** True if a successful call leaves the stored status unchanged. */
  staysOk(): boolean {
    const status = this.#status(this.row.given)
    return this.stored && status === 'ok' && this.row.status === 'ok'
  }

  /** True if an added request changes sums only, and the row's `updated_ns` shows that it is outdated. */
  changesSumsOnly(call: CallRecord): boolean {
    return (
      this.stored &&
      isClean(call) &&
      this.row.updated_ns < BigInt(call.ended_at) * NS_PER_MS &&
      this.#status(this.row.given) === this.row.status
    )
  }

  /** Adds requests that were not stored yet when this run was read. */
  restoreDeferred(records: readonly DeferredRecord[]): void {
    for (const record of records) {
      if (this.spans.get(record.span_id ?? '') !== undefined) continue
      if ('tool' in record) this.addTool(record)
      else {
        this.#events++
        this.#changed()
        addTo(this.spans, record)
      }
      this.deferredRecords.push(record)
    }
  }

  /** The summary of all records added so far. */
  summary(provided: Provided = this.row.given): Summary {
    const { row, spans } = this
    return {
      ...summarize(spans.sums, this.#status(provided), provided, row.start_ns),
      span_count: spans.size + (row.root_auto ? 1 : 0),
      event_count: this.#events,
      artifact_count: this.#artifacts,
    }
  }

  #status(provided: Provided): string {
    const { sums } = this.spans
    if (provided.status !== undefined) return provided.status
    if (provided.root_status !== undefined) return provided.root_status
    if (sums.running > 0) return 'running'
    if (isGuarded(this.row)) return sums.last?.status ?? 'ok'
    return sums.failed > 0 ? 'error' : 'ok'
  }

  /** The failure tag, its source and evidence. */
  failure(
    status: string,
    provided: Provided = this.row.given,
  ): Pick<RunRow, 'failure_tag' | 'failure_tag_source' | 'failure_evidence' | 'tag_state'> {
    const tag_state = this.tags === noTags ? null : this.tags
    if (provided.failure_tag !== undefined)
      return { failure_tag: provided.failure_tag, failure_tag_source: 'explicit', failure_evidence: null, tag_state }
    const best = bestTag(this.tags, { status, attributes: this.row.attributes })
    if (best === null) return { failure_tag: null, failure_tag_source: null, failure_evidence: null, tag_state }
    return { failure_tag: best.tag, failure_tag_source: 'derived', failure_evidence: best.evidence, tag_state }
  }

  /** Replaces the fields of the run itself. `changesWords`: some of them are search words. */
  describe(row: RunRow, changesWords: boolean): void {
    this.row = row
    if (changesWords) this.words.describe(row)
  }
}

const CALLS: ReadonlySet<string> = new Set(['model', 'tool', 'command'])
const isCall = ({ kind, input_tokens, output_tokens }: SpanRow): boolean =>
  CALLS.has(kind) || input_tokens !== null || output_tokens !== null

const addTo = (spans: RunSpans, call: SummedCall): void => {
  for (const span of spansOfCall(call)) spans.set(span)
}

/** Estimated size of an empty run. */
const RUN_BYTES = 6_000
/** A record that is not summed or not stored yet. */
const RECORD_BYTES = 250
/** A search word. */
const WORD_BYTES = 80

/** Estimated size of a run in memory; `spans` in bytes. */
const runBytes = (of: { readonly spans: number; readonly records: number; readonly words: number }): number =>
  RUN_BYTES + of.spans + of.records * RECORD_BYTES + of.words * WORD_BYTES

/** Columns derived from the records of a run. */
type Summary = Pick<
  RunRow,
  | 'status'
  | 'start_ns'
  | 'end_ns'
  | 'duration_ns'
  | 'input_tokens'
  | 'cached_input_tokens'
  | 'output_tokens'
  | 'total_tokens'
  | 'cost_micro'
  | 'span_count'
  | 'event_count'
  | 'artifact_count'
>

/** Columns derived from the sums over spans. `begun_ns`: the start if neither spans nor writer give one. */
const summarize = (
  sums: Readonly<Sums>,
  status: string,
  provided: Provided,
  begun_ns: bigint,
): Omit<Summary, 'span_count' | 'event_count' | 'artifact_count'> => {
  const start_ns = least(provided.start_ns, sums.start_ns ?? sums.earliest_ns) ?? begun_ns
  const end_ns = status === 'running' ? null : (greatest(provided.end_ns, sums.end_ns) ?? start_ns)
  const ended = end_ns === null || end_ns >= start_ns ? end_ns : start_ns
  return {
    status,
    start_ns,
    end_ns: ended,
    duration_ns: ended === null ? null : ended - start_ns,
    input_tokens: capped(sums.input),
    cached_input_tokens: capped(sums.cached),
    output_tokens: capped(sums.output),
    total_tokens: capped(sums.input + sums.output),
    cost_micro: capped(sums.cost),
  }
}

/** The largest value of a column; thousands of spans may claim more. */
const MAX_SUM = 2n ** 63n - 1n
const capped = (sum: bigint): bigint => (sum > MAX_SUM ? MAX_SUM : sum)

type Instant = bigint | null | undefined
const least = (a: Instant, b: Instant): bigint | null => (a == null ? (b ?? null) : b == null || a < b ? a : b)
const greatest = (a: Instant, b: Instant): bigint | null => (a == null ? (b ?? null) : b == null || a > b ? a : b)

/** The search words of a run: its own, and those of its records. */
class RunWords {
  /** Words of the run itself; a change replaces the list. */
  own: readonly string[]
  readonly #records = new Set<string>()
  /** Facts of the last request whose attributes are among the words. */
  #indexed: CallFacts | undefined

  constructor(row: RunRow) {
    this.own = runWords(row)
  }

  /** Number of words of the records. */
  get size(): number {
    return this.#records.size
  }

  /** True for a word of the records. */
  has(word: string): boolean {
    return this.#records.has(word)
  }

  addSpan(span: SpanRow): void {
    addSpanWords(this.#records, span)
  }

  addEvent(event: EventRow): void {
    addEventWords(this.#records, event)
  }

  addCall(call: CallRecord, trace: CallTrace, redact: (text: string) => string): void {
    addCallWords(this.#records, call, redact)
    if (this.#indexed !== undefined && sameFacts(call, this.#indexed)) return
    addCallAttributes(this.#records, call, trace)
    this.#indexed = factsOf(call)
  }

  addTool(record: ToolRecord): void {
    for (const word of toolWords(record)) this.#records.add(word)
  }

  /** Takes over the fields of the run itself. */
  describe(row: RunRow): void {
    const words = runWords(row)
    if (words.join(' ') !== this.own.join(' ')) this.own = words
  }

  /** All words, as they are stored. */
  all(): string[] {
    return storedWords(this.own, this.#records)
  }
}
