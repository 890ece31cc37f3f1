import { exportFormat, type ImportSource, type TraceWriter } from 'guard-gateway/lib/export-format'
import { type JsonObject, writeJson } from 'guard-gateway/lib/json'
import type { Artifact, Run, TraceEvent, TreeNode } from 'guard-gateway/lib/trace'
import {
  addToOutlines,
  artifactDraft,
  artifactRecord,
  errorAt,
  eventDraft,
  eventRecord,
  type FoundRecord,
  ImportFault,
  type ImportLocation,
  idField,
  importReading,
  lineAndPointer,
  memberLocation,
  needField,
  needSchema,
  parseImport,
  RunOutline,
  recordAt,
  runDraft,
  runRecord,
  spanDraft,
  spanRecord,
  textLines,
  traceFileErrors,
} from 'guard-gateway/lib/trace-file'

/** Attributes nest 32 levels, from level one of a line. */
const MAX_DEPTH = 64

/** One record per line: the run, then its spans in tree order, each with its events, then artifacts. */
export const jsonl = exportFormat({
  id: 'jsonl',
  mediaType: 'application/x-ndjson',
  extension: 'jsonl',
  module: import.meta.url,
  writer: (run) => new LineWriter(run),
  accepts: ({ members }) => members.has('type'),
  read(file) {
    const runs = new Map<string, FoundRun>()
    for (const located of linesOf(file)) withFileLocation(() => collectRun(located, runs))
    const outlines = withFileLocation(() => outlinesOf(runs))
    addToOutlines(recordsOf(file, runs))
    return importReading(outlines, () => recordsOf(file, runs))
  },
})

class LineWriter implements TraceWriter {
  readonly #run: Run
  readonly #trace_id: string

  constructor(run: Run) {
    this.#run = run
    this.#trace_id = run.trace_id
  }

  begin(): string {
    return line({ type: 'run', schema: 'trace.v1', ...runRecord(this.#run) })
  }

  span(span: TreeNode): string {
    return line({ type: 'span', trace_id: this.#trace_id, ...spanRecord(span) })
  }

  event(event: TraceEvent, span: TreeNode | null): string {
    return line({ type: 'event', trace_id: this.#trace_id, span_id: span?.id ?? null, ...eventRecord(event) })
  }

  artifact(artifact: Artifact): string {
    return line({ type: 'artifact', trace_id: this.#trace_id, ...artifactRecord(artifact) })
  }

  end(): string {
    return ''
  }
}

const line = (record: object): string => `${writeJson(record)}\n`

interface Line {
  readonly record: JsonObject
  readonly place: ImportLocation
}

/** A run of the file. Until its own line is read, `place` is that of its first record; `at` is its index among such lines. */
interface FoundRun {
  readonly outline: RunOutline
  readonly place: ImportLocation
  at: number
}

const where = (place: ImportLocation) => lineAndPointer('', { ...place, line: place.line ?? 1 })

const withFileLocation = <T>(read: () => T): T => {
  try {
    return read()
  } catch (error) {
    throw errorAt(error, where)
  }
}

/** Records of the non-empty lines. */
function* linesOf(file: ImportSource): Generator<Line> {
  for (const { text, line } of textLines(file)) {
    const content = text.trim()
    if (content === '') continue
    const place = { path: [], line }
    yield { record: withFileLocation(() => recordAt(parseImport(content, MAX_DEPTH, line), place)), place }
  }
}

const collectRun = ({ record, place }: Line, runs: Map<string, FoundRun>): void => {
  if (record.type !== 'run') {
    const trace_id = idField(needField(record.trace_id, 'trace_id', place), place, 'trace_id')
    if (!runs.has(trace_id)) runs.set(trace_id, { outline: new RunOutline(), place, at: -1 })
    return
  }
  needSchema(record, place)
  const run = runDraft(record, place)
  const found = runs.get(run.trace_id) ?? { outline: new RunOutline(), place, at: -1 }
  if (found.at !== -1)
    throw new ImportFault(
      traceFileErrors.DUPLICATE_ID,
      `Run "${run.trace_id}" stands in two lines.`,
      memberLocation(place, 'trace_id'),
    )
  found.at = place.line ?? 0
  found.outline.describe(run, place)
  runs.set(run.trace_id, found)
}

/** Runs in the order of their own lines. */
const outlinesOf = (runs: ReadonlyMap<string, FoundRun>): readonly RunOutline[] => {
  for (const [trace_id, { at, place }] of runs)
    if (at === -1)
      throw new ImportFault(
        traceFileErrors.INVALID_IMPORT,
        `Run "${trace_id}" has no line of its own.`,
        memberLocation(place, 'trace_id'),
      )
  if (runs.size === 0)
    throw new ImportFault(traceFileErrors.INVALID_IMPORT, 'There is no record in the file.', { path: [], line: 1 })
  return [...runs.values()].sort((a, b) => a.at - b.at).map(({ outline }) => outline)
}

function* recordsOf(file: ImportSource, runs: ReadonlyMap<string, FoundRun>): Generator<FoundRecord> {
  for (const located of linesOf(file)) {
    if (located.record.type === 'run') continue
    const found = runs.get(String(located.record.trace_id))
    if (found === undefined) continue
    const { place } = located
    yield { ...withFileLocation(() => readRecord(located)), place, outline: found.outline, where }
  }
}

const readRecord = ({ record, place }: Line) => {
  if (record.type === 'span') return { kind: 'span' as const, record: spanDraft(record, place) }
  if (record.type === 'event') return { kind: 'event' as const, record: eventDraft(record, place) }
  if (record.type === 'artifact') return { kind: 'artifact' as const, record: artifactDraft(record, place) }
  throw new ImportFault(
    traceFileErrors.INVALID_IMPORT,
    '"type" must be "run", "span", "event" or "artifact".',
    memberLocation(place, 'type'),
  )
}
