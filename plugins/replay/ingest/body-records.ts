import {
  type Code,
  type FragmentArtifact,
  type FragmentEvent,
  GuardError,
  type Redactor,
  type SpanDraft,
} from 'guard-gateway/core'
import { storedId } from '#lib/ids'
import { type JsonObject, type JsonPath, pointerOf } from '#lib/json'
import { newSpanId } from '#lib/trace'
import {
  artifactDraft,
  elementsOf,
  eventDraft,
  ImportFault,
  memberLocation,
  spanDraft,
  traceFileErrors,
} from '#lib/trace-file'
import { replayErrors } from '../error-codes.ts'

/** Limit of spans, and of events, per request. */
const MAX_RECORDS = 10_000
/** Earlier times have another unit or epoch. */
const REALISTIC_NS = 1_000_000_000_000_000n

/** A value that was changed or is suspicious; `path` points into the request. */
export interface Warning {
  readonly code: string
  readonly message: string
  readonly path: string
}

/** Location of a record in a request; readers of import files have a place. */
type JsonLocation = { readonly path: JsonPath }

/** Runs a reader, and converts its errors to request errors with a pointer. */
export const checked = <T>(code: Code, read: () => T): T => {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ImportFault)) throw error
    throw new GuardError(error.code === 'INVALID_IMPORT' ? code : error.entry, error.message, {
      path: pointerOf(error.place.path),
    })
  }
}

/** Present members; null counts as absent unless it is nullable. */
const presentMembers = (record: JsonObject, nullable: readonly string[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(record).filter(([key, value]) => value !== null || nullable.includes(key)))

/** Records of a request in document order, with their pointers. */
export class BodyRecords {
  readonly spans: SpanDraft[] = []
  readonly events: FragmentEvent[] = []
  readonly artifacts: FragmentArtifact[] = []
  readonly warnings: Warning[] = []
  readonly pointers = { spans: [] as string[], events: [] as string[], artifacts: [] as string[] }
  readonly #ids = { spans: new Set<string>(), events: new Set<string>(), artifacts: new Set<string>() }
  readonly #redact: Pick<Redactor, 'judgeId'>

  constructor(redact: Pick<Redactor, 'judgeId'>) {
    this.#redact = redact
  }

  /** Adds a span and its nested records. */
  addSpan(record: JsonObject, place: JsonLocation, parent?: string): void {
    const parent_id = record.parent_id ?? record.parent_span_id ?? undefined
    if (parent !== undefined && parent_id !== undefined && parent_id !== parent)
      throw new GuardError(
        replayErrors.INVALID_SPAN,
        'A nested span has the span around it as its parent, and no other.',
        {
          path: pointerOf(memberLocation(place, record.parent_id === undefined ? 'parent_span_id' : 'parent_id').path),
        },
      )
    const draft = checked(replayErrors.INVALID_SPAN, () =>
      spanDraft(
        {
          ...presentMembers(record, ['status_message', 'end_ns']),
          id: record.id ?? newSpanId(),
          parent_id: parent ?? parent_id,
          declared_parent_id: undefined,
        },
        place,
      ),
    )
    const span = {
      ...draft,
      id: this.#take('spans', draft.id, place),
      ...(draft.parent_id && { parent_id: this.storedId(draft.parent_id, place, 'parent_id') }),
    }
    if (span.parent_id === span.id)
      throw new GuardError(traceFileErrors.PARENT_CYCLE, `Span "${span.id}" is its own parent.`, {
        path: pointerOf(place.path),
      })
    this.#checkTimes(span.start_ns, 'start_ns', place)
    this.#checkTimes(span.end_ns ?? undefined, 'end_ns', place)
    this.spans.push(span)
    for (const one of this.#elements(record, 'events', place)) this.addEvent(one.record, one.place, span.id)
    for (const one of this.#elements(record, 'spans', place)) this.addSpan(one.record, one.place, span.id)
  }

  /** Adds an event; `span_id` is the enclosing span. */
  addEvent(record: JsonObject, place: JsonLocation, span_id?: string): void {
    const id = record.id ?? `evt_${newSpanId()}`
    const draft = checked(replayErrors.INVALID_EVENT, () =>
      eventDraft({ ...presentMembers(record, []), id }, place, span_id ?? null),
    )
    const event = {
      ...draft,
      id: this.#take('events', draft.id ?? String(id), place),
      span_id: draft.span_id && this.storedId(draft.span_id, place, 'span_id'),
      ...(draft.request_id && { request_id: this.storedId(draft.request_id, place, 'request_id') }),
    }
    this.#checkTimes(event.time_ns, 'time_ns', place)
    this.events.push(event)
  }

  addArtifact(record: JsonObject, place: JsonLocation): void {
    const id = record.id ?? `art_${newSpanId()}`
    const draft = checked('INVALID_TRACE', () => artifactDraft({ ...presentMembers(record, []), id }, place))
    const artifact = {
      ...draft,
      id: this.#take('artifacts', draft.id ?? String(id), place),
      ...(draft.span_id && { span_id: this.storedId(draft.span_id, place, 'span_id') }),
    }
    this.artifacts.push(artifact)
  }

  /** Adds all records of a list. */
  addAll(record: JsonObject, place: JsonLocation): void {
    for (const one of this.#elements(record, 'spans', place)) this.addSpan(one.record, one.place)
    for (const one of this.#elements(record, 'events', place)) this.addEvent(one.record, one.place)
    for (const one of this.#elements(record, 'artifacts', place)) this.addArtifact(one.record, one.place)
    this.#refuseCircles()
  }

  /** The id as it is stored. Throws INVALID_ID for one that is a key. */
  storedId(id: string, place: JsonLocation, key: string): string {
    const stored = storedId(id, this.#redact)
    if (stored !== undefined) return stored
    throw new GuardError(traceFileErrors.INVALID_ID, `"${key}" is a secret. Use an id that may be shown.`, {
      path: pointerOf(memberLocation(place, key).path),
    })
  }

  #elements(record: JsonObject, key: string, place: JsonLocation) {
    return checked('INVALID_TRACE', () => [...elementsOf(record, key, place)])
  }

  /** The id of a new record as it is stored. Throws INVALID_ID, DUPLICATE_ID, BODY_TOO_LARGE. */
  #take(kind: 'spans' | 'events' | 'artifacts', sent: string, place: JsonLocation): string {
    const id = this.storedId(sent, place, 'id')
    const ids = this.#ids[kind]
    if (ids.has(id))
      throw new GuardError(traceFileErrors.DUPLICATE_ID, `Two ${kind} have the id "${id}".`, {
        path: pointerOf(memberLocation(place, 'id').path),
      })
    if (ids.size === MAX_RECORDS)
      throw new GuardError('BODY_TOO_LARGE', `A request has at most ${MAX_RECORDS} ${kind}. Send several requests.`)
    ids.add(id)
    this.pointers[kind].push(pointerOf(place.path))
    return id
  }

  #checkTimes(time: bigint | undefined, key: string, place: JsonLocation): void {
    if (time !== undefined && time < REALISTIC_NS)
      this.warnings.push({
        code: 'unrealistic_time',
        message: 'Times are nanoseconds since 1970; this one is within the first days of it.',
        path: pointerOf(memberLocation(place, key).path),
      })
  }

  #refuseCircles(): void {
    const parents = new Map(this.spans.map(({ id, parent_id }) => [id, parent_id ?? null] as const))
    const walks = new Map<string, string>()
    for (const [at, { id }] of this.spans.entries()) {
      let up: string | null | undefined = id
      while (typeof up === 'string' && parents.has(up) && !walks.has(up)) {
        walks.set(up, id)
        up = parents.get(up)
      }
      if (typeof up === 'string' && walks.get(up) === id)
        throw new GuardError(traceFileErrors.PARENT_CYCLE, `Span "${up}" is among its own ancestors.`, {
          path: this.pointers.spans[at] ?? '',
        })
    }
  }
}
