import {
  artifactDraft,
  artifactRecord,
  type ExportOptions,
  elementsOf,
  eventDraft,
  eventRecord,
  exportFormat,
  faultsPlaced,
  gathered,
  type Imported,
  type ImportPlace,
  type ImportWarning,
  inside,
  listed,
  memberNames,
  needSchema,
  parseImport,
  RunBuilder,
  recordAt,
  runDraft,
  runRecord,
  spanDraft,
  spanRecord,
  type Trace,
  withList,
  withoutMark,
  writeJson,
} from 'guard-gateway/core'

/** Attributes nest 32 deep, five levels into the bundle; what goes further is no bundle. */
const MAX_DEPTH = 64

/** The native bundle, trace.v1: the run, its spans depth first with their events, the run's own events, artifacts. */
export const json = exportFormat({
  id: 'json',
  mediaType: 'application/json',
  extension: 'json',
  module: import.meta.url,
  write: (trace, options = {}) => gathered(bundle(trace, options)),
  accepts: (text) => {
    const names = new Set(memberNames(withoutMark(text)))
    return !names.has('type') && (names.has('schema') || names.has('run'))
  },
  read(file) {
    const text = withoutMark(file)
    const parsed = parseImport(text, MAX_DEPTH)
    return faultsPlaced(text, () => readBundle(text, parsed))
  },
})

function* bundle({ run, spans, events, artifacts }: Trace, options: ExportOptions): Generator<string> {
  const { exported_at, generator } = options
  const head = writeJson({ schema: 'trace.v1', exported_at, generator, redacted: true, run: runRecord(run) })
  yield `${head.slice(0, -1)},"spans":[`
  let separator = ''
  for (const span of spans) {
    yield separator
    yield* withList(writeJson(spanRecord(span)), 'events', written(span.events, eventRecord))
    separator = ','
  }
  yield '],"events":['
  yield* listed(written(events, eventRecord))
  yield '],"artifacts":['
  yield* listed(written(artifacts, artifactRecord))
  yield ']}'
}

function* written<T>(records: readonly T[], record: (of: T) => object): Generator<string> {
  for (const one of records) yield writeJson(record(one))
}

const top: ImportPlace = { path: [] }

const readBundle = (text: string, parsed: unknown): Imported => {
  const bundle = recordAt(parsed, top)
  needSchema(bundle, top)
  const at = inside(top, 'run')
  const builder = new RunBuilder(runDraft(recordAt(bundle.run, at), at), at)
  for (const { record, place } of elementsOf(bundle, 'spans', top)) {
    const span = spanDraft(record, place)
    builder.addSpan(span, place)
    for (const event of elementsOf(record, 'events', place)) {
      builder.addEvent(eventDraft(event.record, event.place, span.id), event.place)
    }
  }
  for (const { record, place } of elementsOf(bundle, 'events', top)) builder.addEvent(eventDraft(record, place), place)
  for (const { record, place } of elementsOf(bundle, 'artifacts', top)) {
    builder.addArtifact(artifactDraft(record, place), place)
  }
  const warnings: ImportWarning[] = []
  return { runs: [builder.finish(text, warnings)], warnings }
}
