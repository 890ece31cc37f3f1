import type { Attributes, RunDraft } from 'guard-gateway/core'
import type { ImportReading, ImportSource } from 'guard-gateway/lib/export-format'
import {
  elementsOf,
  errorAt,
  type FoundRecord,
  ImportFault,
  type JsonElement,
  jsonElements,
  lineAndPointer,
  outlined,
  type Place,
  type Placed,
  placeInElement,
  RunOutline,
  readingOf,
  recordAt,
  traceFileErrors,
} from 'guard-gateway/lib/trace-file'
import { droppedWarnings, type Foreign, foreignRecords } from './foreign-records.ts'
import { collect, noRecords } from './map.ts'
import { foreignNames, foreignRun, ownRun, tellingOfRun, textFrom } from './read-run.ts'
import { nativeSpanId, type OtlpSpan, otlpSpanOf, scopeAttributes } from './read-span.ts'
import { fromKeyValues } from './values.ts'

/** One level of an attribute is up to four in OTLP; attributes nest 32 deep. */
const MAX_DEPTH = 160

const lists = { resourceSpans: { scopeSpans: { spans: {} } } }

/** What stands around the spans and may come behind them, by its place. */
interface Surroundings {
  readonly resources: Map<string, Attributes>
  readonly scopes: Map<string, Attributes>
}

interface Spot {
  readonly place: Place
  readonly line: number
}

/** What is remembered of one trace: of its spans only ids, and what may say who made it. */
interface OtlpTrace {
  readonly outline: RunOutline
  /** Ids that spans had before they were exported, by those of OTLP. */
  readonly natives: Map<string, string>
  readonly telling: Record<string, unknown>
  readonly groups: Set<string>
  readonly first: Spot
  root: (Spot & { readonly attributes: Attributes; readonly group: string }) | undefined
}

/** Looks an OTLP/JSON file through. What other programs logged of prompts and replies stays outside. Throws GuardError with line and pointer. */
export const readOtlpFile = (file: ImportSource): ImportReading => {
  const around: Surroundings = { resources: new Map(), scopes: new Map() }
  const traces = new Map<string, OtlpTrace>()
  lookThrough(file, around, traces)
  if (traces.size === 0) throw nothing()
  const counts = { content: 0, cut: 0 }
  const foreign = foreignRecords(counts)
  describeRuns(traces, around, foreign)
  outlined(recordsOf(file, around, traces, foreign))
  const outlines = [...traces.values()].map(({ outline }) => outline)
  // read again, the same goes a second time
  const reading = readingOf(outlines, () => recordsOf(file, around, traces, foreignRecords({ content: 0, cut: 0 })))
  return { ...reading, warnings: [...reading.warnings, ...droppedWarnings(counts)] }
}

/** A file that is no JSON is refused as that, whatever stands in it before. */
const lookThrough = (file: ImportSource, around: Surroundings, traces: Map<string, OtlpTrace>): void => {
  let fault: unknown
  for (const element of jsonElements(file, lists, MAX_DEPTH)) {
    if (fault !== undefined) continue
    try {
      placed(element, () => look(element, around, traces))
    } catch (error) {
      fault = error
    }
  }
  if (fault !== undefined) throw fault
}

const nothing = (): unknown =>
  errorAt(new ImportFault(traceFileErrors.INVALID_IMPORT, 'There is no span in the file.', { path: [] }), () => ({
    line: 1,
    path: '',
  }))

/** Members of an OTLP span that hold what these hold of ours. */
const members: Readonly<Record<string, string>> = {
  id: 'spanId',
  parent_id: 'parentSpanId',
  end_ns: 'endTimeUnixNano',
}

/** Line and pointer of what a fault names, where OTLP has it. */
const whereIn =
  (element: JsonElement) =>
  (place: Place): { line: number; path: string } => {
    const [key, ...deeper] = place.path.slice(element.path.length)
    const member = members[String(key)]
    return placeInElement(
      element,
      member === undefined ? place : { ...place, path: [...element.path, member, ...deeper] },
    )
  }

const placed = <T>(element: JsonElement, read: () => T): T => {
  try {
    return read()
  } catch (error) {
    throw errorAt(error, (place) => placeInElement(element, place))
  }
}

const isSpan = (path: JsonElement['path']): boolean => path.length === 6
const scopeKey = ({ path }: JsonElement): string => `${path[1]}/${path[3]}`
const groupKey = ({ path }: JsonElement): string => String(path[1])

const look = (element: JsonElement, { resources, scopes }: Surroundings, traces: Map<string, OtlpTrace>): void => {
  const place = { path: element.path }
  const record = recordAt(element.value, place)
  if (isSpan(element.path)) lookAtSpan(element, otlpSpanOf(record, place), traces)
  else if (element.path.length === 4) {
    // elements were taken out; what is left is checked to be a list
    elementsOf(record, 'spans', place).next()
    const scope = scopeAttributes(recordAt(record.scope ?? {}, { path: [...element.path, 'scope'] }))
    scopes.set(scopeKey(element), scope)
  } else if (element.path.length === 2) {
    elementsOf(record, 'scopeSpans', place).next()
    const at = { path: [...element.path, 'resource'] }
    resources.set(groupKey(element), fromKeyValues(recordAt(record.resource ?? {}, at), 'attributes', at))
  } else elementsOf(record, 'resourceSpans', place).next()
}

const lookAtSpan = (element: JsonElement, span: OtlpSpan, traces: Map<string, OtlpTrace>): void => {
  const { place, attributes } = span
  const spot: Spot = { place, line: placeInElement(element, place).line }
  const group = groupKey(element)
  let trace = traces.get(span.traceId)
  if (trace === undefined) {
    const telling: Record<string, unknown> = Object.create(null)
    trace = { outline: new RunOutline(), natives: new Map(), telling, groups: new Set(), first: spot, root: undefined }
    traces.set(span.traceId, trace)
  }
  trace.groups.add(group)
  const native = nativeSpanId(span)
  if (native !== span.spanId) trace.natives.set(span.spanId, native)
  for (const name of tellingOfRun)
    if (!Object.hasOwn(trace.telling, name) && textFrom(attributes[name])) trace.telling[name] = attributes[name]
  if (span.root) trace.root ??= { ...spot, attributes, group }
}

const describeRuns = (traces: ReadonlyMap<string, OtlpTrace>, around: Surroundings, foreign: Foreign): void => {
  const ids = new Set<string>()
  for (const [traceId, trace] of traces) {
    const { place, line } = trace.root ?? trace.first
    try {
      const run = runOf(traceId, trace, around, foreign)
      if (ids.has(run.trace_id))
        throw new ImportFault(
          traceFileErrors.DUPLICATE_ID,
          `Two traces of the file claim the id "${run.trace_id}".`,
          place,
        )
      ids.add(run.trace_id)
      trace.outline.describe(run, place)
    } catch (error) {
      throw errorAt(error, (at) => ({ line, path: lineAndPointer('', { ...at, line }).path }))
    }
  }
}

const runOf = (
  traceId: string,
  { root, telling, groups }: OtlpTrace,
  { resources }: Surroundings,
  { quiet, fit }: Foreign,
): RunDraft => {
  if (root !== undefined) return ownRun(root, resources.get(root.group) ?? {})
  const about: Attributes = Object.assign(Object.create(null), ...[...groups].map((group) => resources.get(group)))
  return fit(quiet.run(foreignRun(traceId, foreignNames([{ attributes: telling }], about), about)))
}

function* recordsOf(
  file: ImportSource,
  { scopes }: Surroundings,
  traces: ReadonlyMap<string, OtlpTrace>,
  foreign: Foreign,
): Generator<FoundRecord> {
  for (const element of jsonElements(file, lists, MAX_DEPTH, isSpan)) {
    const where = whereIn(element)
    const { trace, collected } = placed(element, () => readSpan(element, traces, scopes, foreign))
    const { outline } = trace
    for (const one of collected.spans) yield { kind: 'span', outline, where, ...one }
    for (const one of collected.events) yield { kind: 'event', outline, where, ...one }
    for (const one of collected.artifacts) yield { kind: 'artifact', outline, where, ...one }
  }
}

const readSpan = (
  element: JsonElement,
  traces: ReadonlyMap<string, OtlpTrace>,
  scopes: ReadonlyMap<string, Attributes>,
  { quiet, fit }: Foreign,
) => {
  const place = { path: element.path }
  const found = otlpSpanOf(recordAt(element.value, place), place)
  const trace = traces.get(found.traceId)
  if (trace === undefined)
    throw new ImportFault(traceFileErrors.INVALID_IMPORT, 'The file has changed while it was read.', place)
  const parent = found.parentId === null ? null : (trace.natives.get(found.parentId) ?? found.parentId)
  const collected = noRecords()
  const { ours } = found
  collect(collected, { ...found, scope: scopes.get(scopeKey(element)) ?? {} }, parent, ours ? undefined : quiet)
  if (ours) return { trace, collected }
  const fitAll = <R extends { readonly attributes?: Attributes }>(list: readonly Placed<R>[]): Placed<R>[] =>
    list.map(({ record, place: at }) => ({ record: fit(record), place: at }))
  const { spans, events, artifacts } = collected
  return { trace, collected: { spans: fitAll(spans), events: fitAll(events), artifacts: fitAll(artifacts) } }
}
