import {
  type Artifact,
  GuardError,
  type Reader,
  type TraceEvent,
  type TraceSpan,
  type TreeNode,
} from 'guard-gateway/core'
import { arrangePaced, autoRoot, wideRoot } from 'guard-gateway/lib/trace'
import { type Leaving, leavingOf, type TraceReader, type TraceRecord } from 'guard-gateway/lib/trace-file'
import type { RunRow } from '../tables.ts'
import { runById } from './run.ts'
import { type Source, type Told, toldByRows, toldBySpan, toldOf } from './run-records.ts'

/** Rows of a run that are held at a time. */
const PAGE_ROWS = 256

interface SpanPlace extends Pick<TraceSpan, 'id' | 'parent_id' | 'start_ns'> {
  readonly from: Source
}
interface EventPlace extends Pick<TraceEvent, 'id' | 'span_id' | 'time_ns'> {
  readonly from: Source
}
type ArtifactPlace = Pick<Artifact, 'id' | 'span_id'>
type Tree = Awaited<ReturnType<typeof arrangePaced<SpanPlace, EventPlace, ArtifactPlace>>>
type SpanInTree = Tree['spans'][number]
type Place = Leaving<SpanInTree, EventPlace, ArtifactPlace>

/**
 * A stored run that is never held whole: of its records what their order follows from, some hundred bytes each, and a page
 * of them. Throws RUN_NOT_FOUND, also where the run is removed while it is read.
 */
export const runReader = async (storage: Reader, trace_id: string): Promise<TraceReader> => {
  const run = await runById(storage, trace_id)
  const outline = new Outline()
  // a run of a page is not read twice
  let all: Records | undefined = new Records(run)
  if (run.root_auto) outline.add(toldBySpan(autoRoot(run)))
  for await (const page of toldOf(storage, trace_id, PAGE_ROWS)) {
    for (const told of page) {
      outline.add(told)
      all?.add(told)
    }
    if (all !== undefined && all.size > PAGE_ROWS) all = undefined
  }
  return {
    run,
    async *pages(order) {
      const tree = await arrangePaced(run, run.root_span_id, outline)
      const hand: Hand = { id: '', node: null }
      for (const places of pieces(leavingOf(tree, order))) {
        const records = all ?? (await loaded(storage, run, places))
        yield places.map((place) => recordOf(place, records, hand))
      }
    },
  }
}

function* pieces(places: Iterable<Place>): Generator<readonly Place[]> {
  let piece: Place[] = []
  for (const place of places) {
    piece.push(place)
    if (piece.length < PAGE_ROWS) continue
    yield piece
    piece = []
  }
  yield piece
}

/** What the order of a run's records follows from. */
class Outline {
  readonly spans: SpanPlace[] = []
  readonly events: EventPlace[] = []
  readonly artifacts: ArtifactPlace[] = []

  add({ spans, events, artifacts, from }: Told): void {
    for (const { id, parent_id, start_ns } of spans) this.spans.push({ id, parent_id, start_ns, from })
    for (const { id, span_id, time_ns } of events) this.events.push({ id, span_id, time_ns, from })
    for (const { id, span_id } of artifacts) this.artifacts.push({ id, span_id })
  }
}

/** Records by their ids; one that is read from another table also by that row. */
class Records {
  readonly #run: RunRow
  readonly #spans = new Map<string, TraceSpan>()
  readonly #events = new Map<string, TraceEvent>()
  readonly #artifacts = new Map<string, Artifact>()

  constructor(run: RunRow) {
    this.#run = run
    if (run.root_auto) this.add(toldBySpan(autoRoot(run)))
  }

  get size(): number {
    return this.#spans.size + this.#events.size + this.#artifacts.size
  }

  add({ spans, events, artifacts, from }: Told): void {
    for (const span of spans) this.#spans.set(keyOf(span.id, from), span)
    for (const event of events) this.#events.set(keyOf(event.id, from), event)
    for (const artifact of artifacts) this.#artifacts.set(artifact.id, artifact)
  }

  node({ id, from, parent_id, depth, declared_parent_id }: SpanInTree): TreeNode {
    const found = this.#found(this.#spans.get(keyOf(id, from)))
    const span = id === this.#run.root_span_id ? wideRoot(found, this.#run) : found
    return { ...span, parent_id, depth, ...(declared_parent_id === undefined ? {} : { declared_parent_id }) }
  }

  event({ id, from }: EventPlace): TraceEvent {
    return this.#found(this.#events.get(keyOf(id, from)))
  }

  artifact({ id }: ArtifactPlace): Artifact {
    return this.#found(this.#artifacts.get(id))
  }

  #found<R>(record: R | undefined): R {
    if (record !== undefined) return record
    throw new GuardError('RUN_NOT_FOUND', `Run "${this.#run.trace_id}" was removed while it was read.`)
  }
}

const keyOf = (id: string, from: Source): string => (from === undefined ? id : `${from.id} ${id}`)

/** The span in hand: its events may be on the next page. */
interface Hand {
  id: string
  node: TreeNode | null
}

const recordOf = (place: Place, records: Records, hand: Hand): TraceRecord => {
  if (place.kind === 'span') {
    hand.id = place.span.id
    hand.node = records.node(place.span)
    return { kind: 'span', span: hand.node }
  }
  const span = place.span?.id === hand.id ? hand.node : null
  return place.kind === 'event'
    ? { kind: 'event', event: records.event(place.event), span }
    : { kind: 'artifact', artifact: records.artifact(place.artifact), span }
}

const loaded = async (storage: Reader, run: RunRow, places: readonly Place[]): Promise<Records> => {
  const wanted = { span: [] as string[], event: [] as string[], artifact: [] as string[] }
  const sources = new Map<string, NonNullable<Source>>()
  for (const place of places) {
    const { id, from } = sourceOf(place)
    if (from === undefined) wanted[place.kind].push(id)
    else sources.set(`${from.table} ${from.id}`, from)
  }
  const rows = { spans: wanted.span, events: wanted.event, artifacts: wanted.artifact, sources: sources.values() }
  const records = new Records(run)
  for (const told of await toldByRows(storage, run.trace_id, rows)) records.add(told)
  return records
}

const sourceOf = (place: Place): { readonly id: string; readonly from: Source } => {
  if (place.kind === 'span') return place.span
  return place.kind === 'event' ? place.event : { id: place.artifact.id, from: undefined }
}
