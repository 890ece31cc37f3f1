import type { ArtifactDraft, EventDraft, RunDraft, SpanDraft } from 'guard-gateway/core'
import type { ImportedRecord, ImportedRun } from '#lib/export-format'
import { traceFileErrors } from '../error-codes.ts'
import { ImportFault, type ImportLocation, memberLocation } from './import-fault.ts'
import { withOriginalParent } from './records.ts'

/** What is remembered of one run of a file while its records pass: ids and parents, about a hundred bytes a record. */
export class RunOutline {
  #run: RunDraft | undefined
  /** Places of spans by id, in the order of the file. */
  readonly #spans = new Map<string, number>()
  readonly #parents: (string | null)[] = []
  readonly #ids = { event: new Set<string>(), artifact: new Set<string>() }
  #events = 0
  #artifacts = 0

  /** Undefined as long as only records have come. */
  get run(): RunDraft | undefined {
    return this.#run
  }

  /** Throws ImportFault for one that ends before it starts. */
  describe(run: RunDraft, place: ImportLocation): void {
    refuseBackwards(run, place)
    this.#run = run
  }

  /** Throws ImportFault for an id that there is, for a span that is its own parent or ends before it starts. */
  addSpan(span: SpanDraft, place: ImportLocation): void {
    if (this.#spans.has(span.id)) throw duplicate('span', span.id, place)
    if (span.parent_id === span.id)
      throw new ImportFault(
        traceFileErrors.PARENT_CYCLE,
        `Span "${span.id}" is its own parent.`,
        memberLocation(place, 'parent_id'),
      )
    refuseBackwards(span, place)
    this.#spans.set(span.id, this.#parents.length)
    this.#parents.push(span.parent_id ?? null)
  }

  /** Throws ImportFault for an id that there is. */
  addEvent(event: EventDraft, place: ImportLocation): void {
    this.#takeId('event', event.id, place)
    this.#events++
  }

  /** Throws ImportFault for an id that there is. */
  addArtifact(artifact: ArtifactDraft, place: ImportLocation): void {
    this.#takeId('artifact', artifact.id, place)
    this.#artifacts++
  }

  #takeId(kind: 'event' | 'artifact', id: string | undefined, place: ImportLocation): void {
    if (id === undefined) return
    if (this.#ids[kind].has(id)) throw duplicate(kind, id, place)
    this.#ids[kind].add(id)
  }

  /** How many spans name a parent that is not in the run. */
  get orphans(): number {
    return this.#parents.reduce((count, parent) => count + (this.#knows(parent) ? 0 : 1), 0)
  }

  #knows(parent: string | null | undefined): boolean {
    return typeof parent !== 'string' || this.#spans.has(parent)
  }

  isOrphan(span: SpanDraft): boolean {
    return !this.#knows(span.parent_id)
  }

  /** A span that is among its own ancestors; undefined where there is none. */
  inCircle(): string | undefined {
    const ids = [...this.#spans.keys()]
    const walks = new Int32Array(ids.length)
    for (let start = 0; start < ids.length; start++) {
      let at: number | undefined = start
      while (at !== undefined && walks[at] === 0) {
        walks[at] = start + 1
        at = this.#spans.get(this.#parents[at] ?? '')
      }
      if (at !== undefined && walks[at] === start + 1) return ids[at]
    }
    return undefined
  }

  /** The run and how much of it there is. */
  summary(run: RunDraft): ImportedRun {
    return { run, spans: this.#spans.size, events: this.#events, artifacts: this.#artifacts }
  }

  /** A span as it is taken in: one whose parent is not in the run is below the root. */
  span(run: number, span: SpanDraft): ImportedRecord {
    const { parent_id } = span
    if (typeof parent_id !== 'string') return { kind: 'span', run, parent: null, record: span }
    const parent = this.#spans.get(parent_id)
    if (parent !== undefined) return { kind: 'span', run, parent, record: span }
    return { kind: 'span', run, parent: null, record: { ...withOriginalParent(span, parent_id), parent_id: null } }
  }

  /** The place of the span that a record names: null where it names none, -1 where the span is not in the run. */
  placeOf(span_id: string | null | undefined): number | null {
    return span_id === null || span_id === undefined ? null : (this.#spans.get(span_id) ?? -1)
  }
}

const duplicate = (kind: string, id: string, place: ImportLocation): ImportFault =>
  new ImportFault(
    traceFileErrors.DUPLICATE_ID,
    `There are two records of kind ${kind} with the id "${id}".`,
    memberLocation(place, 'id'),
  )

const refuseBackwards = (
  record: { readonly start_ns?: bigint; readonly end_ns?: bigint | null },
  place: ImportLocation,
): void => {
  const { start_ns, end_ns } = record
  if (start_ns === undefined || end_ns === undefined || end_ns === null || end_ns >= start_ns) return
  throw new ImportFault(traceFileErrors.INVALID_TIME, 'It ends before it starts.', memberLocation(place, 'end_ns'))
}
