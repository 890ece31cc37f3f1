import type { Attributes, RunDraft } from 'guard-gateway/core'
import type { ImportReading, ImportSource, ImportWarning } from '#lib/export-format'
import {
  addToOutlines,
  elementsOf,
  errorAt,
  type FoundRecord,
  ImportFault,
  type ImportLocation,
  importReading,
  type JsonElement,
  jsonElements,
  type LocatedRecord,
  lineAndPointer,
  locationInElement,
  RunOutline,
  recordAt,
  traceFileErrors,
} from '#lib/trace-file'
import { MetadataOnly } from './content/metadata-only.ts'
import { MetadataRecords } from './content/metadata-records.ts'
import { fitAttributes } from './fit-attributes.ts'
import { collect, noRecords } from './map.ts'
import { semconv } from './names.ts'
import { foreignRun, ownRun } from './read-run.ts'
import { CallModels, lacksModel } from './reading/call-models.ts'
import { RunClues } from './reading/run-clues.ts'
import { SenderReader, type SenderReport } from './reading/sender-attributes.ts'
import { nativeSpanId, type OtlpSpan, otlpSpanOf, scopeAttributes } from './span-record.ts'
import { fromKeyValues } from './values.ts'

/** One level of an attribute is up to four in OTLP; attributes nest 32 deep. */
const MAX_DEPTH = 160

const lists = { resourceSpans: { scopeSpans: { spans: {} } } }

/** What is around the spans and may come after them, by its place. */
interface ScanContext {
  readonly resources: Map<string, Attributes>
  readonly scopes: Map<string, Attributes>
  readonly reader: SenderReader
}

interface FileLocation {
  readonly place: ImportLocation
  readonly line: number
}

/** What is remembered of one trace: of its spans only ids, and what may say who made it. */
interface OtlpTrace {
  readonly outline: RunOutline
  /** Ids that spans had before they were exported, by those of OTLP. */
  readonly natives: Map<string, string>
  readonly clues: RunClues
  readonly models: CallModels
  readonly groups: Set<string>
  readonly first: FileLocation
  root: (FileLocation & { readonly attributes: Attributes; readonly group: string }) | undefined
}

/** Looks an OTLP/JSON file through. What other programs logged of prompts and replies stays outside. Throws GuardError with line and pointer. */
export const readOtlpFile = (file: ImportSource): ImportReading => {
  const around: ScanContext = { resources: new Map(), scopes: new Map(), reader: new SenderReader() }
  const traces = new Map<string, OtlpTrace>()
  scanFile(file, around, traces)
  if (traces.size === 0) throw noSpansError()
  const counts = { content: 0, cut: 0 }
  const foreign = foreignRecords(counts)
  addToOutlines(recordsOf(file, around, traces, foreign))
  describeRuns(traces, around, foreign)
  const outlines = [...traces.values()].map(({ outline }) => outline)
  // read again, the same goes a second time
  const reading = importReading(outlines, () => recordsOf(file, around, traces, foreignRecords({ content: 0, cut: 0 })))
  return { ...reading, warnings: [...reading.warnings, ...droppedWarnings(counts)] }
}

/** A file that is no JSON is refused as that, whatever is in it before. */
const scanFile = (file: ImportSource, around: ScanContext, traces: Map<string, OtlpTrace>): void => {
  let fault: unknown
  for (const element of jsonElements(file, lists, MAX_DEPTH)) {
    if (fault !== undefined) continue
    try {
      withLocation(element, () => scanElement(element, around, traces))
    } catch (error) {
      fault = error
    }
  }
  if (fault !== undefined) throw fault
}

const noSpansError = (): unknown =>
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
  (place: ImportLocation): { line: number; path: string } => {
    const [key, ...deeper] = place.path.slice(element.path.length)
    const member = members[String(key)]
    return locationInElement(
      element,
      member === undefined ? place : { ...place, path: [...element.path, member, ...deeper] },
    )
  }

const withLocation = <T>(element: JsonElement, read: () => T): T => {
  try {
    return read()
  } catch (error) {
    throw errorAt(error, (place) => locationInElement(element, place))
  }
}

const isSpan = (path: JsonElement['path']): boolean => path.length === 6
const scopeKey = ({ path }: JsonElement): string => `${path[1]}/${path[3]}`
const groupKey = ({ path }: JsonElement): string => String(path[1])

const scanElement = (
  element: JsonElement,
  { resources, scopes }: ScanContext,
  traces: Map<string, OtlpTrace>,
): void => {
  const place = { path: element.path }
  const record = recordAt(element.value, place)
  if (isSpan(element.path)) scanSpan(element, otlpSpanOf(record, place), traces)
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

const scanSpan = (element: JsonElement, span: OtlpSpan, traces: Map<string, OtlpTrace>): void => {
  const { place, attributes } = span
  const spot: FileLocation = { place, line: locationInElement(element, place).line }
  const group = groupKey(element)
  let trace = traces.get(span.traceId)
  if (trace === undefined) {
    trace = {
      outline: new RunOutline(),
      natives: new Map(),
      clues: new RunClues(),
      models: new CallModels(),
      groups: new Set(),
      first: spot,
      root: undefined,
    }
    traces.set(span.traceId, trace)
  }
  trace.groups.add(group)
  const native = nativeSpanId(span)
  if (native !== span.spanId) trace.natives.set(span.spanId, native)
  if (span.root) trace.root ??= { ...spot, attributes, group }
}

const describeRuns = (traces: ReadonlyMap<string, OtlpTrace>, around: ScanContext, foreign: Foreign): void => {
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
  { root, clues, groups }: OtlpTrace,
  { resources, reader }: ScanContext,
  { quiet, fit }: Foreign,
): RunDraft => {
  if (root !== undefined) return ownRun(root, resources.get(root.group) ?? {})
  const about: Attributes = Object.assign(Object.create(null), ...[...groups].map((group) => resources.get(group)))
  return fit(quiet.run(foreignRun(traceId, clues.names(about, reader), about)))
}

function* recordsOf(
  file: ImportSource,
  { scopes, reader }: ScanContext,
  traces: ReadonlyMap<string, OtlpTrace>,
  foreign: Foreign,
): Generator<FoundRecord> {
  for (const element of jsonElements(file, lists, MAX_DEPTH, isSpan)) {
    const where = whereIn(element)
    const { trace, collected } = withLocation(element, () => readSpan(element, traces, { scopes, reader }, foreign))
    const { outline } = trace
    for (const one of collected.spans) yield { kind: 'span', outline, where, ...one }
    for (const one of collected.events) yield { kind: 'event', outline, where, ...one }
    for (const one of collected.artifacts) yield { kind: 'artifact', outline, where, ...one }
  }
}

const readSpan = (
  element: JsonElement,
  traces: ReadonlyMap<string, OtlpTrace>,
  { scopes, reader }: Pick<ScanContext, 'scopes' | 'reader'>,
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
  const scope = scopes.get(scopeKey(element)) ?? {}
  const report = ours ? undefined : foreignReport(found, trace, reader, scope[semconv.scopeName])
  collect(collected, { ...found, scope }, parent, report, ours ? undefined : quiet)
  if (ours) return { trace, collected }
  const fitAll = <R extends { readonly attributes?: Attributes }>(
    list: readonly LocatedRecord<R>[],
  ): LocatedRecord<R>[] => list.map(({ record, place: at }) => ({ record: fit(record), place: at }))
  const { spans, events, artifacts } = collected
  return { trace, collected: { spans: fitAll(spans), events: fitAll(events), artifacts: fitAll(artifacts) } }
}

/** What a span of another program says; notes what it says of its run, for which all have to be read once. */
const foreignReport = (
  span: OtlpSpan,
  { clues, models }: OtlpTrace,
  reader: SenderReader,
  scope: unknown,
): SenderReport => {
  const report = reader.read(span.attributes, scope)
  clues.span(span, report)
  models.add(span, report)
  return lacksModel(report) ? models.completed(span, report) : report
}

/** What records of other programs go through. */
interface Foreign {
  readonly quiet: MetadataRecords
  /** The record with attributes that fit. */
  fit<R extends { readonly attributes?: Attributes }>(record: R): R
}

/** Counts removed records in `counts`: content, and records over a limit. */
const foreignRecords = (counts: { content: number; cut: number }): Foreign => {
  const names = new MetadataOnly()
  const quiet = new MetadataRecords(names, (count) => {
    counts.content += count
  })
  const cut = (count: number): void => {
    counts.cut += count
  }
  return {
    quiet,
    fit: (record) =>
      record.attributes === undefined
        ? record
        : { ...record, attributes: fitAttributes(record.attributes, names, cut) },
  }
}

/** What to say of it. */
const droppedWarnings = ({
  content,
  cut,
}: {
  readonly content: number
  readonly cut: number
}): readonly ImportWarning[] => {
  const warnings: ImportWarning[] = []
  if (content > 0)
    warnings.push({
      code: 'content_dropped',
      message: `${content} attributes or events that may tell what people, models or tools said were left out.`,
    })
  if (cut > 0)
    warnings.push({
      code: 'attributes_dropped',
      message: `${cut} attributes beyond what a record may have were left out.`,
    })
  return warnings
}
