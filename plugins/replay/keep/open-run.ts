import type { CallTrace } from 'guard-gateway/core'
import { type CallRecord, callRecords, type ToolRecord, toolRecords } from 'guard-gateway/lib/trace'
import { bestTag, evidenceOfEvent, evidenceOfSpan, noTags, noted, type TagState } from '../failures/tags.ts'
import type { ArtifactRow, EventRow, Given, RunRow, SpanRow } from '../tables.ts'
import { NS_PER_MS } from '../time.ts'
import { PlainCalls } from './plain-calls.ts'
import { runBytes } from './run-bytes.ts'
import { isGuarded } from './run-row.ts'
import { RunSpans } from './run-spans.ts'
import { type Summary, summedUp } from './summary.ts'
import { type SummedCall, spansOfCall, summedCall, summedSpan, summedTool } from './summed-span.ts'
import { addCallWords, addEventWords, addSpanWords, runWords, storedWords, toolWords } from './words.ts'

const asItIs = (text: string): string => text

/** A model request or a call of a tool whose record may still be on its way to the storage. */
export type LateRecord = SummedCall | ToolRecord

/** Nothing of the call speaks for a failure tag. */
const isClean = ({ decision, outcome }: CallRecord): boolean => decision === 'allow' && outcome === 'ok'

/** A run that is being written to: its row, and what keeps its summary up without reading its records again. */
export class OpenRun {
  #row: RunRow
  readonly #spans = new RunSpans()
  /** Of its records. */
  readonly words = new Set<string>()
  /** Of the run itself; another list once they are others. */
  ownWords: readonly string[]
  tags: TagState = noTags
  #events = 0
  #artifacts = 0
  readonly #plain = new PlainCalls()
  /** The row is in storage. */
  stored: boolean
  /** It is what writers find by its id. */
  isOpen = false
  /** Requests that were added and moved nothing but sums, so that the row was not written with their records. */
  readonly lateRecords: LateRecord[] = []
  /** Last use, on the monotonic clock. */
  touched_at = 0
  /** No more requests join: a newer run of its session has begun. */
  isFull = false
  /** Arrival of the newest model request that joined. */
  joined_at = 0
  /** When its row or its spans end, milliseconds since 1970; undefined until somebody asks. */
  #ended_at: number | undefined

  constructor(row: RunRow, stored: boolean) {
    this.#row = row
    this.stored = stored
    this.ownWords = runWords(row)
  }

  get row(): RunRow {
    return this.#row
  }

  set row(row: RunRow) {
    this.#row = row
    this.#changed()
  }

  get spans(): RunSpans {
    if (this.#plain.size > 0) this.#sumUp()
    return this.#spans
  }

  /** How many spans it has. */
  get size(): number {
    return this.#spans.size + this.#plain.size
  }

  /** What it takes in memory, about. */
  get bytes(): number {
    const records = Math.max(this.#plain.size, this.lateRecords.length)
    return runBytes({ spans: this.#spans.bytes, records, words: this.words.size })
  }

  /** When something was last heard of it, milliseconds since 1970. */
  get active_at(): number {
    this.#ended_at ??= this.#lastEnd()
    return Math.max(this.#ended_at, this.#plain.ended_at, this.joined_at)
  }

  #lastEnd(): number {
    const { end_ns, updated_ns } = this.#row
    return Math.max(Number((end_ns ?? updated_ns) / NS_PER_MS), Number((this.spans.sums.end_ns ?? 0n) / NS_PER_MS))
  }

  #changed(): void {
    this.#plain.forgetLike()
    this.#ended_at = undefined
  }

  addSpan(span: SpanRow): void {
    this.#changed()
    this.spans.set(summedSpan(span))
    this.tags = noted(this.tags, evidenceOfSpan(span))
    addSpanWords(this.words, span)
  }

  addEvent(event: EventRow): void {
    this.#changed()
    this.#events++
    this.tags = noted(this.tags, evidenceOfEvent(event))
    addEventWords(this.words, event)
  }

  /** An event that takes the place of one there is, of which nothing spoke for a tag. */
  changeEvent(event: EventRow): void {
    this.addEvent(event)
    this.#events--
  }

  addArtifact(_artifact: ArtifactRow): void {
    this.#artifacts++
  }

  /** A model request with the tool calls of its reply and its decision. */
  addCall(call: CallRecord, trace: CallTrace, redact: (text: string) => string = asItIs): void {
    this.#changed()
    this.#events++
    addCallWords(this.words, call, redact)
    if (isClean(call)) {
      addTo(this.spans, summedCall(call, trace))
      return
    }
    const { spans, event } = callRecords(call, trace)
    for (const span of spans) this.spans.set(summedSpan(span))
    this.tags = noted(noted(this.tags, evidenceOfSpan(spans[0])), evidenceOfEvent(event))
  }

  /** Notes that a request which was added needs no more than new sums: those like it are taken at a glance. */
  notePlain(call: CallRecord): void {
    if (this.row.status === 'ok') this.#plain.like(call, Number(this.row.updated_ns / NS_PER_MS))
  }

  /** Takes a request that moves nothing but sums. Undefined: it has to be looked at. */
  take(call: CallRecord, trace: CallTrace): SummedCall | undefined {
    const taken = this.#spans.isAwaited(trace.span_id) ? undefined : this.#plain.take(call, trace)
    if (taken !== undefined) this.#events++
    return taken
  }

  #sumUp(): void {
    this.#ended_at = undefined
    for (const call of this.#plain.empty()) addTo(this.#spans, call)
  }

  /** A call of a tool that says nothing of words or failures that the run does not say already. */
  addTool(record: ToolRecord): void {
    this.#ended_at = undefined
    this.#events++
    this.spans.set(summedTool(record))
  }

  /** The same of one that was read from storage: its span may have a row of its own. */
  addStoredTool(record: ToolRecord): void {
    this.#changed()
    const { span, event } = toolRecords(record)
    this.#events++
    this.tags = noted(this.tags, evidenceOfEvent(event))
    for (const word of toolWords(record)) this.words.add(word)
    if (this.spans.get(span.id) !== undefined) return
    this.spans.set(summedSpan(span))
    this.tags = noted(this.tags, evidenceOfSpan(span))
  }

  /** Whether a call that went well leaves the status as it is stored. */
  staysOk(): boolean {
    const status = this.#status(this.row.given)
    return this.stored && status === 'ok' && this.row.status === 'ok'
  }

  /** Whether the stored row needs no more than new sums for a request that was added, and shows that it is behind: its last write is older. */
  isPlain(call: CallRecord): boolean {
    return (
      this.stored &&
      isClean(call) &&
      this.row.updated_ns < BigInt(call.ended_at) * NS_PER_MS &&
      this.#status(this.row.given) === this.row.status
    )
  }

  /** Takes in requests that were not stored yet when this run was read. */
  regain(records: readonly LateRecord[]): void {
    for (const late of records) {
      if (this.spans.get(late.span_id ?? '') !== undefined) continue
      if ('tool' in late) this.addTool(late)
      else {
        this.#events++
        this.#changed()
        addTo(this.spans, late)
      }
      this.lateRecords.push(late)
    }
  }

  /** The summary as it follows from what was added. */
  summary(given: Given = this.row.given): Summary {
    const { row, spans } = this
    return {
      ...summedUp(spans.sums, this.#status(given), given, row.start_ns),
      span_count: spans.size + (row.root_auto ? 1 : 0),
      event_count: this.#events,
      artifact_count: this.#artifacts,
    }
  }

  #status(given: Given): string {
    const { sums } = this.spans
    if (given.status !== undefined) return given.status
    if (given.root_status !== undefined) return given.root_status
    if (sums.running > 0) return 'running'
    if (isGuarded(this.row)) return sums.last?.status ?? 'ok'
    return sums.failed > 0 ? 'error' : 'ok'
  }

  /** The failure tag, its source and evidence. */
  failure(
    status: string,
    given: Given = this.row.given,
  ): Pick<RunRow, 'failure_tag' | 'failure_tag_source' | 'failure_evidence' | 'tag_state'> {
    const tag_state = this.tags === noTags ? null : this.tags
    if (given.failure_tag !== undefined)
      return { failure_tag: given.failure_tag, failure_tag_source: 'explicit', failure_evidence: null, tag_state }
    const best = bestTag(this.tags, { status, attributes: this.row.attributes })
    if (best === null) return { failure_tag: null, failure_tag_source: null, failure_evidence: null, tag_state }
    return { failure_tag: best.tag, failure_tag_source: 'derived', failure_evidence: best.evidence, tag_state }
  }

  /** Takes over what is said of the run itself. `said`: some of it is among its words. */
  describe(row: RunRow, said: boolean): void {
    this.row = row
    if (!said) return
    const words = runWords(row)
    if (words.join(' ') !== this.ownWords.join(' ')) this.ownWords = words
  }

  /** All words by which it is found. */
  allWords(): string[] {
    return storedWords(this.ownWords, this.words)
  }
}

const addTo = (spans: RunSpans, call: SummedCall): void => {
  for (const span of spansOfCall(call)) spans.set(span)
}
