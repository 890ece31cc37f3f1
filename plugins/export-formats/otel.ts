import {
  type Artifact,
  type ExportOptions,
  exportFormat,
  faultsPlaced,
  fromOtlp,
  gathered,
  type Imported,
  ImportFault,
  type ImportWarning,
  memberNames,
  type OtlpRun,
  otlpArtifact,
  otlpEvent,
  otlpResource,
  otlpSpan,
  parseImport,
  RunBuilder,
  type Trace,
  type TreeSpan,
  withList,
  withoutMark,
  writeJson,
} from 'guard-gateway/core'

/** One level of an attribute is up to four in OTLP; attributes nest 32 deep. */
const MAX_DEPTH = 160

/** OTLP/JSON: one resource, one scope, every record a span or an event of one; comes back as it went out. */
export const otel = exportFormat({
  id: 'otel',
  mediaType: 'application/json',
  extension: 'otel.json',
  module: import.meta.url,
  write: (trace, options = {}) => gathered(document(trace, options)),
  accepts: (text) => new Set(memberNames(withoutMark(text))).has('resourceSpans'),
  read(file) {
    const text = withoutMark(file)
    const parsed = parseImport(text, MAX_DEPTH)
    return faultsPlaced(text, () => readDocument(text, parsed))
  },
})

function* document(trace: Trace, { generator, names }: ExportOptions): Generator<string> {
  const resource = writeJson(otlpResource(trace.run))
  const scope = writeJson({ name: generator?.name ?? 'guard-gateway', version: generator?.version })
  const artifacts = Map.groupBy(trace.artifacts, ({ span_id }) => span_id)
  yield `{"resourceSpans":[{"resource":${resource},"scopeSpans":[{"scope":${scope},"spans":[`
  const known = new Set(trace.spans.map(({ id }) => id))
  const loose = [...artifacts].filter(([id]) => id === null || !known.has(id)).flatMap(([, of]) => of)
  let separator = ''
  for (const span of trace.spans) {
    yield separator
    const own = artifacts.get(span.id) ?? []
    const events = span.parent_id === null ? rootEvents(span, trace, [...own, ...loose]) : spanEvents(span, own)
    yield* withList(writeJson(otlpSpan(span, trace.run, names)), 'events', events)
    separator = ','
  }
  yield ']}]}]}'
}

function* spanEvents(span: TreeSpan, artifacts: readonly Artifact[]): Generator<string> {
  for (const event of span.events) yield writeJson(otlpEvent(event, 'span'))
  for (const artifact of artifacts) yield writeJson(otlpArtifact(artifact, span))
}

/** The root also carries what belongs to no span. */
function* rootEvents(root: TreeSpan, trace: Trace, artifacts: readonly Artifact[]): Generator<string> {
  yield* spanEvents(root, artifacts)
  for (const event of trace.events) yield writeJson(otlpEvent(event, 'run'))
}

/** What other programs logged of prompts and replies stays outside; what our own store held comes back. */
const keepsContent = (ours: boolean): boolean => ours

const readDocument = (text: string, parsed: unknown): Imported => {
  const { runs, rejected, dropped } = fromOtlp(parsed, { keepsContent })
  const [fault] = rejected
  if (fault !== undefined) throw fault
  if (runs.length === 0) throw new ImportFault('INVALID_IMPORT', 'There is no span in the file.', { path: [] })
  const warnings: ImportWarning[] = []
  const builders = new Map<string, RunBuilder>()
  for (const found of runs) addRun(builders, found)
  const finished = [...builders.values()].map((builder) => builder.finish(text, warnings))
  if (dropped > 0) {
    warnings.push({
      code: 'content_dropped',
      message: `${dropped} attributes or events that carried prompts or replies were left out.`,
    })
  }
  return { runs: finished, warnings }
}

const addRun = (builders: Map<string, RunBuilder>, { run, place, spans, events, artifacts }: OtlpRun): void => {
  if (builders.has(run.trace_id)) {
    throw new ImportFault('DUPLICATE_ID', `Two traces of the file claim the id "${run.trace_id}".`, place)
  }
  const builder = new RunBuilder(run, place)
  builders.set(run.trace_id, builder)
  for (const span of spans) builder.addSpan(span.record, span.place)
  for (const event of events) builder.addEvent(event.record, event.place)
  for (const artifact of artifacts) builder.addArtifact(artifact.record, artifact.place)
}
