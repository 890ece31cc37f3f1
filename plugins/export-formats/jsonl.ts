import {
  artifactDraft,
  artifactRecord,
  eventDraft,
  eventRecord,
  exportFormat,
  faultsPlaced,
  gathered,
  type Imported,
  ImportFault,
  type ImportWarning,
  idField,
  inside,
  memberNames,
  needField,
  needSchema,
  type Placed,
  parseImport,
  RunBuilder,
  recordAt,
  runDraft,
  runRecord,
  type Shape,
  spanDraft,
  spanRecord,
  type Trace,
  withoutMark,
  writeJson,
} from 'guard-gateway/core'

/** Attributes nest 32 deep, one level into a line. */
const MAX_DEPTH = 64

/** One record a line: the run, then its spans in tree order, each followed by its events, then artifacts. */
export const jsonl = exportFormat({
  id: 'jsonl',
  mediaType: 'application/x-ndjson',
  extension: 'jsonl',
  module: import.meta.url,
  write: (trace) => gathered(lines(trace)),
  accepts: (text) => new Set(memberNames(withoutMark(text))).has('type'),
  read(file) {
    const text = withoutMark(file)
    return faultsPlaced(text, () => readLines(text))
  },
})

function* lines({ run, spans, events, artifacts }: Trace): Generator<string> {
  const { trace_id } = run
  yield `${writeJson({ type: 'run', schema: 'trace.v1', ...runRecord(run) })}\n`
  for (const span of spans) {
    yield `${writeJson({ type: 'span', trace_id, ...spanRecord(span) })}\n`
    for (const event of span.events) {
      yield `${writeJson({ type: 'event', trace_id, span_id: span.id, ...eventRecord(event) })}\n`
    }
  }
  for (const event of events) {
    yield `${writeJson({ type: 'event', trace_id, span_id: null, ...eventRecord(event) })}\n`
  }
  for (const artifact of artifacts) yield `${writeJson({ type: 'artifact', trace_id, ...artifactRecord(artifact) })}\n`
}

/** The records of the lines that hold something, whatever ends them. */
function* recordsOf(text: string): Generator<Placed<Shape>> {
  let line = 0
  for (let start = 0; start < text.length; ) {
    const feed = text.indexOf('\n', start)
    const end = feed === -1 ? text.length : feed
    const content = text.slice(start, end).trim()
    line++
    start = end + 1
    if (content === '') continue
    const place = { path: [], line }
    yield { record: recordAt(parseImport(content, MAX_DEPTH, line), place), place }
  }
}

const readLines = (text: string): Imported => {
  const builders = new Map<string, RunBuilder>()
  const others: Placed<Shape>[] = []
  for (const placed of recordsOf(text)) {
    if (placed.record.type === 'run') addRun(builders, placed)
    else others.push(placed)
  }
  for (const placed of others) addRecord(builders, placed)
  if (builders.size === 0) {
    throw new ImportFault('INVALID_IMPORT', 'There is no record in the file.', { path: [], line: 1 })
  }
  const warnings: ImportWarning[] = []
  return { runs: [...builders.values()].map((builder) => builder.finish(text, warnings)), warnings }
}

const addRun = (builders: Map<string, RunBuilder>, { record, place }: Placed<Shape>): void => {
  needSchema(record, place)
  const run = runDraft(record, place)
  if (builders.has(run.trace_id)) {
    throw new ImportFault('DUPLICATE_ID', `Run "${run.trace_id}" stands in two lines.`, inside(place, 'trace_id'))
  }
  builders.set(run.trace_id, new RunBuilder(run, place))
}

const addRecord = (builders: ReadonlyMap<string, RunBuilder>, { record, place }: Placed<Shape>): void => {
  const trace_id = idField(needField(record.trace_id, 'trace_id', place), place, 'trace_id')
  const builder = builders.get(trace_id)
  if (builder === undefined) {
    throw new ImportFault('INVALID_IMPORT', `Run "${trace_id}" has no line of its own.`, inside(place, 'trace_id'))
  }
  if (record.type === 'span') builder.addSpan(spanDraft(record, place), place)
  else if (record.type === 'event') builder.addEvent(eventDraft(record, place), place)
  else if (record.type === 'artifact') builder.addArtifact(artifactDraft(record, place), place)
  else {
    throw new ImportFault(
      'INVALID_IMPORT',
      '"type" must be "run", "span", "event" or "artifact".',
      inside(place, 'type'),
    )
  }
}
