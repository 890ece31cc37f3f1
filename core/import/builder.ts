import type {
  ArtifactDraft,
  EventDraft,
  ImportedRun,
  ImportWarning,
  RunDraft,
  SpanDraft,
} from '../contracts/export-format.ts'
import { ImportFault, inside, lineAndPointer, type Place } from './fault.ts'
import { type Placed, withOriginalParent } from './records.ts'

/** So many warnings name a span and its line: finding the line takes a look at the whole text. */
const MAX_NAMED = 100

/** The records of one run while a file is read, each with its place, so that what is wrong between them can be named. */
export class RunBuilder {
  readonly run: RunDraft
  readonly #spans = new Map<string, Placed<SpanDraft>>()
  readonly #events: EventDraft[] = []
  readonly #artifacts: ArtifactDraft[] = []
  readonly #ids = { event: new Set<string>(), artifact: new Set<string>() }
  constructor(run: RunDraft, place: Place) {
    refuseBackwards(run, place)
    this.run = run
  }

  addSpan(span: SpanDraft, place: Place): void {
    if (this.#spans.has(span.id)) throw doubled('span', span.id, place)
    if (span.parent_id === span.id) {
      throw new ImportFault('PARENT_CYCLE', `Span "${span.id}" is its own parent.`, inside(place, 'parent_id'))
    }
    refuseBackwards(span, place)
    this.#spans.set(span.id, { record: span, place })
  }

  addEvent(event: EventDraft, place: Place): void {
    this.#takeId('event', event.id, place)
    this.#events.push(event)
  }

  addArtifact(artifact: ArtifactDraft, place: Place): void {
    this.#takeId('artifact', artifact.id, place)
    this.#artifacts.push(artifact)
  }

  #takeId(kind: 'event' | 'artifact', id: string | undefined, place: Place): void {
    if (id === undefined) return
    if (this.#ids[kind].has(id)) throw doubled(kind, id, place)
    this.#ids[kind].add(id)
  }

  /** The run, its tree checked. A span whose parent is not in `text` loses it, and a warning says so. Throws ImportFault. */
  finish(text: string, warnings: ImportWarning[]): ImportedRun {
    this.#refuseCircles()
    const spans: SpanDraft[] = []
    let unnamed = 0
    for (const { record, place } of this.#spans.values()) {
      const { parent_id } = record
      if (typeof parent_id !== 'string' || this.#spans.has(parent_id)) spans.push(record)
      else {
        spans.push({ ...withOriginalParent(record, parent_id), parent_id: null })
        if (warnings.length >= MAX_NAMED) {
          unnamed++
          continue
        }
        warnings.push({
          code: 'orphan_parent',
          message: `Span "${record.id}" names a parent that is not in the run; it now stands below the root.`,
          ...lineAndPointer(text, inside(place, 'parent_id')),
        })
      }
    }
    if (unnamed > 0)
      warnings.push({
        code: 'orphan_parent',
        message: `${unnamed} more spans of run "${this.run.trace_id}" name parents that are not in it.`,
      })
    return { run: this.run, spans, events: this.#events, artifacts: this.#artifacts }
  }

  #refuseCircles(): void {
    const walks = new Map<string, number>()
    let walk = 0
    for (const start of this.#spans.keys()) {
      walk++
      let id: string | null | undefined = start
      while (typeof id === 'string' && !walks.has(id)) {
        walks.set(id, walk)
        id = this.#spans.get(id)?.record.parent_id
      }
      const met = typeof id === 'string' ? this.#spans.get(id) : undefined
      if (met !== undefined && walks.get(met.record.id) === walk) {
        throw new ImportFault(
          'PARENT_CYCLE',
          `Span "${met.record.id}" is among its own ancestors.`,
          inside(met.place, 'parent_id'),
        )
      }
    }
  }
}

const doubled = (kind: string, id: string, place: Place): ImportFault =>
  new ImportFault('DUPLICATE_ID', `There are two records of kind ${kind} with the id "${id}".`, inside(place, 'id'))

const refuseBackwards = (
  record: { readonly start_ns?: bigint; readonly end_ns?: bigint | null },
  place: Place,
): void => {
  const { start_ns, end_ns } = record
  if (start_ns === undefined || end_ns === undefined || end_ns === null || end_ns >= start_ns) return
  throw new ImportFault('INVALID_TIME', `"end_ns" lies before "start_ns".`, inside(place, 'end_ns'))
}
