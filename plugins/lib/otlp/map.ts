import type { ArtifactDraft, Attributes, EventDraft, RunDraft, SpanDraft } from 'guard-gateway/core'
import { sha256 } from '#lib/ids'
import type { JsonObject } from '#lib/json'
import { Pace, paced } from '#lib/time-slice'
import {
  artifactDraft,
  elementsOf,
  eventDraft,
  ImportFault,
  type ImportLocation,
  type LocatedRecord,
  memberLocation,
  recordAt,
} from '#lib/trace-file'
import { MetadataOnly } from './content/metadata-only.ts'
import { MetadataRecords } from './content/metadata-records.ts'
import { ARTIFACT_ATTRIBUTE, guardNames, reservedOnEvents, semconv } from './names.ts'
import { foreignRun, ownRun } from './read-run.ts'
import { spanFromOtlp, unescaped } from './read-span.ts'
import { CallModels, lacksModel } from './reading/call-models.ts'
import { RunClues, type RunNames } from './reading/run-clues.ts'
import { SenderReader, type SenderReport } from './reading/sender-attributes.ts'
import { instantOf, nativeSpanId, type OtlpSpan, otlpSpanOf, scopeAttributes } from './span-record.ts'
import { fromKeyValues } from './values.ts'

/** What OTLP data says of one trace, in our records. */
export interface OtlpRun {
  readonly run: RunDraft
  /** The root span of one of our own exports describes it. */
  readonly ours: boolean
  /** Where another program wrote it: the names that the ids of the run were made of. */
  readonly names: RunNames
  readonly place: ImportLocation
  readonly spans: readonly LocatedRecord<SpanDraft>[]
  readonly events: readonly LocatedRecord<EventDraft>[]
  readonly artifacts: readonly LocatedRecord<ArtifactDraft>[]
}

export interface OtlpReading {
  readonly runs: readonly OtlpRun[]
  /** One fault for every span that cannot be used. */
  readonly rejected: readonly ImportFault[]
  /** Attributes and events that carried content and were left out. */
  readonly dropped: number
}

export interface OtlpOptions {
  /** Whether a span keeps what people and models said; `ours`: one of our own exports wrote it. */
  keepsContent(ours: boolean): boolean
}

interface Found extends OtlpSpan {
  readonly resource: Attributes
  readonly scope: Attributes
}

const top: ImportLocation = { path: [] }

/**
 * The runs in OTLP trace data: parsed OTLP/JSON, or protobuf decoded to the same shape (ids and bytes as Uint8Array).
 * A span that cannot be used is rejected alone; others have their turn in between. Rejects with ImportFault if the data as a whole has another form.
 */
export const fromOtlp = async (data: unknown, options: OtlpOptions, pace = new Pace()): Promise<OtlpReading> => {
  const rejected: ImportFault[] = []
  const traces = await tracesIn(recordAt(data, top), rejected, pace)
  let dropped = 0
  const quiet = new MetadataRecords(new MetadataOnly(), (more) => {
    dropped += more
  })
  const runs: OtlpRun[] = []
  const reader = new SenderReader()
  for (const [traceId, spans] of traces) {
    const reading = new RunReading(traceId, spans, { options, rejected, quiet, reader })
    await paced(reading.spans(), pace)
    runs.push(reading.run())
  }
  return { runs, rejected, dropped }
}

const tracesIn = async (
  data: JsonObject,
  rejected: ImportFault[],
  pace: Pace,
): Promise<ReadonlyMap<string, readonly Found[]>> => {
  const traces = new Map<string, Found[]>()
  for (const found of spansIn(data, rejected)) {
    if (pace.due) await pace.rest()
    if (found === undefined) continue
    const trace = traces.get(found.traceId)
    if (trace === undefined) traces.set(found.traceId, [found])
    else trace.push(found)
  }
  return traces
}

/** The spans one by one; undefined for one that is rejected, and after each scope. */
function* spansIn(data: JsonObject, rejected: ImportFault[]): Generator<Found | undefined> {
  for (const group of elementsOf(data, 'resourceSpans', top)) {
    const at = memberLocation(group.place, 'resource')
    const resource = unlessRejected(rejected, () =>
      fromKeyValues(recordAt(group.record.resource ?? {}, at), 'attributes', at),
    )
    // other services of the request are none the worse
    if (resource === undefined) continue
    for (const scoped of elementsOf(group.record, 'scopeSpans', group.place)) {
      const scope = scopeAttributes(recordAt(scoped.record.scope ?? {}, memberLocation(scoped.place, 'scope')))
      for (const { record, place } of elementsOf(scoped.record, 'spans', scoped.place)) {
        const span = unlessRejected(rejected, () => otlpSpanOf(record, place))
        yield span && { ...span, resource, scope }
      }
      yield undefined
    }
    yield undefined
  }
}

const unlessRejected = <T>(rejected: ImportFault[], read: () => T): T | undefined => {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ImportFault)) throw error
    rejected.push(error)
    return
  }
}

/** The records of spans, as they are collected. */
interface Collected {
  readonly spans: LocatedRecord<SpanDraft>[]
  readonly events: LocatedRecord<EventDraft>[]
  readonly artifacts: LocatedRecord<ArtifactDraft>[]
}

/** None, to start with. */
export const noRecords = (): Collected => ({ spans: [], events: [], artifacts: [] })

/** What the spans of a run are read with. */
interface ReadingContext {
  readonly options: OtlpOptions
  readonly rejected: ImportFault[]
  readonly quiet: MetadataRecords
  readonly reader: SenderReader
}

/** Makes a run of the spans of one trace. */
class RunReading {
  readonly #traceId: string
  readonly #found: readonly Found[]
  readonly #context: ReadingContext
  readonly #collected = noRecords()
  readonly #clues = new RunClues()
  #models: CallModels | undefined

  constructor(traceId: string, found: readonly Found[], context: ReadingContext) {
    this.#traceId = traceId
    this.#found = found
    this.#context = context
  }

  /** Reads the spans, yielding after each. */
  *spans(): Generator<void> {
    const { options, rejected, quiet } = this.#context
    const native = new Map(this.#found.map((span) => [span.spanId, nativeSpanId(span)]))
    for (const span of this.#found) {
      const parent = span.parentId === null ? null : (native.get(span.parentId) ?? span.parentId)
      const report = span.ours ? undefined : this.#read(span)
      unlessRejected(rejected, () => {
        collect(this.#collected, span, parent, report, options.keepsContent(span.ours) ? undefined : quiet)
        if (report !== undefined) this.#clues.span(span, report)
      })
      yield
    }
  }

  #read(span: Found): SenderReport {
    const { reader } = this.#context
    const report = reader.read(span.attributes, span.scope[semconv.scopeName])
    if (!lacksModel(report)) return report
    this.#models ??= modelsIn(this.#found, reader)
    return this.#models.completed(span, report)
  }

  /** The run, once its spans are read. */
  run(): OtlpRun {
    const found = this.#found
    const root = found.find((span) => span.root)
    const place = root?.place ?? found[0]?.place ?? top
    const { rejected, reader } = this.#context
    const own = root && unlessRejected(rejected, () => ownRun(root, root.resource))
    if (own !== undefined) return { run: this.#report(own, true), ours: true, names: {}, place, ...this.#collected }
    // spans of one resource stand together, so that each counts where it first is
    const resources = new Set(found.map(({ resource }) => resource))
    const about: Attributes = Object.assign(Object.create(null), ...resources)
    const names = this.#clues.names(about, reader)
    const run = this.#report(foreignRun(this.#traceId, names, about), false)
    return { run, ours: false, names, place, ...this.#collected }
  }

  #report(run: RunDraft, ours: boolean): RunDraft {
    const { options, quiet } = this.#context
    return options.keepsContent(ours) ? run : quiet.run(run)
  }
}

const modelsIn = (found: readonly Found[], reader: SenderReader): CallModels => {
  const models = new CallModels()
  for (const span of found) models.add(span, reader.read(span.attributes, span.scope[semconv.scopeName]))
  return models
}

/** Adds the records of a span; `report`: what one of another program says; `quiet` removes what people and models said. */
export const collect = (
  into: Collected,
  span: Omit<Found, 'resource'>,
  parent: string | null,
  report: SenderReport | undefined,
  quiet: MetadataRecords | undefined,
): void => {
  const record = spanFromOtlp(span, parent, span.scope, report)
  const { events, artifacts } = eventsFromOtlp(span, record.id)
  into.spans.push({ record: quiet?.span(record) ?? record, place: span.place })
  for (const event of events) {
    const stored = quiet === undefined ? event.record : quiet.event(event.record)
    if (stored !== undefined) into.events.push({ record: stored, place: event.place })
  }
  for (const { record: artifact, place } of artifacts)
    into.artifacts.push({ record: quiet?.artifact(artifact) ?? artifact, place })
}

/** What the events of one OTLP span are in our records. */
interface SpanEvents {
  readonly events: readonly LocatedRecord<EventDraft>[]
  readonly artifacts: readonly LocatedRecord<ArtifactDraft>[]
}

/** Reads the events of a span whose id here is `span_id`. An event that has no id gets the same one every time. Throws ImportFault. */
const eventsFromOtlp = (span: OtlpSpan, span_id: string): SpanEvents => {
  const events: LocatedRecord<EventDraft>[] = []
  const artifacts: LocatedRecord<ArtifactDraft>[] = []
  for (const { record, place } of elementsOf(span.record, 'events', span.place)) {
    const attributes = fromKeyValues(record, 'attributes', place)
    const owner = attributes[guardNames.eventLevel] === 'run' ? null : span_id
    if (record.name === guardNames.artifact && typeof attributes[guardNames.artifactId] === 'string') {
      artifacts.push({ record: artifactFrom(attributes, owner, place), place })
    } else if (span.ours && typeof attributes[guardNames.eventId] === 'string') {
      events.push({ record: ownEvent(record, attributes, owner, place), place })
    } else {
      const id = `evt_${sha256(`${span.traceId}:${span.spanId}:${events.length}`).slice(0, 16)}`
      const time_ns = instantOf(record, 'timeUnixNano', place) || undefined
      events.push({ record: eventDraft({ id, name: record.name, time_ns, attributes }, place, span_id), place })
    }
  }
  return { events, artifacts }
}

const ownEvent = (
  record: JsonObject,
  attributes: Attributes,
  span_id: string | null,
  place: ImportLocation,
): EventDraft =>
  eventDraft(
    {
      id: attributes[guardNames.eventId],
      name: record.name,
      time_ns: instantOf(record, 'timeUnixNano', place),
      severity: attributes[guardNames.severity] ?? 'info',
      request_id: attributes[guardNames.requestId] ?? null,
      attributes: unescaped(attributes, (name) => reservedOnEvents.has(name)),
    },
    place,
    span_id,
  )

const artifactFrom = (attributes: Attributes, span_id: string | null, place: ImportLocation): ArtifactDraft => {
  const own: Record<string, unknown> = Object.create(null)
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith(ARTIFACT_ATTRIBUTE)) own[key.slice(ARTIFACT_ATTRIBUTE.length)] = value
  }
  return artifactDraft(
    {
      id: attributes[guardNames.artifactId],
      span_id: span_id ?? attributes[guardNames.artifactSpan] ?? null,
      path: attributes.path,
      mime_type: attributes.mime_type ?? null,
      size: attributes.size ?? null,
      sha256: attributes.sha256 ?? null,
      attributes: own,
    },
    place,
  )
}
