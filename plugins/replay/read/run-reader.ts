import { GuardError, type Reader } from 'guard-gateway/core'
import {
  type Artifact,
  buildSpanTreePaced,
  defaultRootSpan,
  enclosingRootSpan,
  type ToolResult,
  ToolResults,
  type TraceEvent,
  type TraceSpan,
  type TreeNode,
  withToolResult,
} from '#lib/trace'
import { type OrderedRecord, orderedRecords, type TraceReader, type TraceRecord } from '#lib/trace-file'
import { replayErrors } from '../error-codes.ts'
import type { RunRow } from '../tables.ts'
import { runById } from './run.ts'
import { type RowRecords, recordPages, recordsOfRows, recordsOfSpan, type Source } from './run-records.ts'

/** Rows of a run in memory at a time. */
const PAGE_ROWS = 256

interface SpanOutline extends Pick<TraceSpan, 'id' | 'parent_id' | 'start_ns'> {
  readonly from: Source
}
interface EventOutline extends Pick<TraceEvent, 'id' | 'span_id' | 'time_ns'> {
  readonly from: Source
}
type ArtifactOutline = Pick<Artifact, 'id' | 'span_id'>
type Tree = Awaited<ReturnType<typeof buildSpanTreePaced<SpanOutline, EventOutline, ArtifactOutline>>>
type SpanInTree = Tree['spans'][number]
type RunRecord = OrderedRecord<SpanInTree, EventOutline, ArtifactOutline>

/**
 * Reads a stored run in pages. Memory holds the sort keys of its records and results of tool calls, some hundred bytes each, and one
 * page of records. Throws RUN_NOT_FOUND, also if the run is deleted during the read.
 */
export const runReader = async (storage: Reader, trace_id: string): Promise<TraceReader> => {
  const run = await runById(storage, trace_id)
  const outline = new Outline()
  // a run of one page is read once
  const found = new ToolResults()
  let all: Records | undefined = new Records(run)
  if (run.root_auto) outline.add(recordsOfSpan(defaultRootSpan(run)))
  for await (const page of recordPages(storage, trace_id, PAGE_ROWS)) {
    for (const row of page) {
      outline.add(row)
      if (row.call !== undefined) found.add(row.call)
      all?.add(row)
    }
    if (all !== undefined && all.size > PAGE_ROWS) all = undefined
  }
  const results = found.bySpan()
  return {
    run,
    async *pages(order) {
      const tree = await buildSpanTreePaced(run, run.root_span_id, outline)
      const current: CurrentSpan = { id: '', node: null }
      for (const page of pagesOf(orderedRecords(tree, order))) {
        const records = all ?? (await loaded(storage, run, page))
        yield page.map((record) => recordOf(record, records, results, current))
      }
    },
  }
}

function* pagesOf(records: Iterable<RunRecord>): Generator<readonly RunRecord[]> {
  let page: RunRecord[] = []
  for (const record of records) {
    page.push(record)
    if (page.length < PAGE_ROWS) continue
    yield page
    page = []
  }
  yield page
}

type Results = ReadonlyMap<string, ToolResult>

/** Sort keys of a run's records. */
class Outline {
  readonly spans: SpanOutline[] = []
  readonly events: EventOutline[] = []
  readonly artifacts: ArtifactOutline[] = []

  add({ spans, events, artifacts, from }: RowRecords): void {
    for (const { id, parent_id, start_ns } of spans) this.spans.push({ id, parent_id, start_ns, from })
    for (const { id, span_id, time_ns } of events) this.events.push({ id, span_id, time_ns, from })
    for (const { id, span_id } of artifacts) this.artifacts.push({ id, span_id })
  }
}

/** Records by id, or by the row of another table. */
class Records {
  readonly #run: RunRow
  readonly #spans = new Map<string, TraceSpan>()
  readonly #events = new Map<string, TraceEvent>()
  readonly #artifacts = new Map<string, Artifact>()

  constructor(run: RunRow) {
    this.#run = run
    if (run.root_auto) this.add(recordsOfSpan(defaultRootSpan(run)))
  }

  get size(): number {
    return this.#spans.size + this.#events.size + this.#artifacts.size
  }

  add({ spans, events, artifacts, from }: RowRecords): void {
    for (const span of spans) this.#spans.set(keyOf(span.id, from), span)
    for (const event of events) this.#events.set(keyOf(event.id, from), event)
    for (const artifact of artifacts) this.#artifacts.set(artifact.id, artifact)
  }

  node({ id, from, parent_id, depth, declared_parent_id }: SpanInTree, results: Results): TreeNode {
    const found = withToolResult(this.#found(this.#spans.get(keyOf(id, from))), results)
    const span = id === this.#run.root_span_id ? enclosingRootSpan(found, this.#run) : found
    return { ...span, parent_id, depth, ...(declared_parent_id === undefined ? {} : { declared_parent_id }) }
  }

  event({ id, from }: EventOutline): TraceEvent {
    return this.#found(this.#events.get(keyOf(id, from)))
  }

  artifact({ id }: ArtifactOutline): Artifact {
    return this.#found(this.#artifacts.get(id))
  }

  #found<R>(record: R | undefined): R {
    if (record !== undefined) return record
    throw new GuardError(replayErrors.RUN_NOT_FOUND, `Run "${this.#run.trace_id}" was removed while it was read.`)
  }
}

const keyOf = (id: string, from: Source): string => (from === undefined ? id : `${from.id} ${id}`)

/** The current span: its events may be on the next page. */
interface CurrentSpan {
  id: string
  node: TreeNode | null
}

const recordOf = (record: RunRecord, records: Records, results: Results, current: CurrentSpan): TraceRecord => {
  if (record.kind === 'span') {
    current.id = record.span.id
    current.node = records.node(record.span, results)
    return { kind: 'span', span: current.node }
  }
  const span = record.span?.id === current.id ? current.node : null
  return record.kind === 'event'
    ? { kind: 'event', event: records.event(record.event), span }
    : { kind: 'artifact', artifact: records.artifact(record.artifact), span }
}

const loaded = async (storage: Reader, run: RunRow, page: readonly RunRecord[]): Promise<Records> => {
  const ids = { span: [] as string[], event: [] as string[], artifact: [] as string[] }
  const sources = new Map<string, NonNullable<Source>>()
  for (const record of page) {
    const { id, from } = sourceOf(record)
    if (from === undefined) ids[record.kind].push(id)
    else sources.set(`${from.table} ${from.id}`, from)
  }
  const rows = { spans: ids.span, events: ids.event, artifacts: ids.artifact, sources: sources.values() }
  const records = new Records(run)
  for (const row of await recordsOfRows(storage, run.trace_id, rows)) records.add(row)
  return records
}

const sourceOf = (record: RunRecord): { readonly id: string; readonly from: Source } => {
  if (record.kind === 'span') return record.span
  return record.kind === 'event' ? record.event : { id: record.artifact.id, from: undefined }
}
