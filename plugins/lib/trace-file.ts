import { createReadStream, type Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { GuardError } from 'guard-gateway/core'
import type { Io } from '#lib/command'
import type { ImportSource } from '#lib/export-format'
import { JsonMarks, mark } from '#lib/json'
import type { Artifact, Run, TraceEvent, TreeNode } from '#lib/trace'
import { type JsonElement, jsonElements } from './trace-file/read/elements.ts'
import { ImportFile, textOf } from './trace-file/read/file.ts'

export { traceFileErrors } from './trace-file/error-codes.ts'

export { errorAt, type JsonElement, jsonElements, locationInElement } from './trace-file/read/elements.ts'
export { idField, needField, nsField, textField } from './trace-file/read/fields.ts'
export { ImportFile, importFile } from './trace-file/read/file.ts'

export {
  ImportFault,
  type ImportLocation,
  lineAndPointer,
  memberLocation,
} from './trace-file/read/import-fault.ts'

export { RunOutline } from './trace-file/read/outline.ts'
export { addToOutlines, type FoundRecord, importReading } from './trace-file/read/reading.ts'
export {
  artifactDraft,
  elementsOf,
  eventDraft,
  type LocatedRecord,
  needSchema,
  recordAt,
  runDraft,
  spanDraft,
} from './trace-file/read/records.ts'
export { parseImport } from './trace-file/read/text.ts'

export { type OrderedRecord, orderedRecords } from './trace-file/write/record-order.ts'

export { streamTrace, type TraceReader, type TraceRecord, writeTrace } from './trace-file/write/write.ts'

const HEAD_BYTES = 16_384

/** The beginning of a file as text, about 16 KiB; bytes that are no text are replaced. */
export const headOf = (file: ImportSource): string => {
  const parts: Uint8Array[] = []
  let size = 0
  for (const chunk of file.chunks()) {
    parts.push(chunk.subarray(0, HEAD_BYTES - size))
    size += chunk.length
    if (size >= HEAD_BYTES) break
  }
  return Buffer.concat(parts).toString()
}

const MEMBER = 'elements'

/** The elements of a file that is one JSON array, one by one. Throws TOO_DEEP and INVALID_JSON with line and column. */
export function* arrayElements(file: ImportSource, maxDepth: number): Generator<JsonElement> {
  const wrapped = new ImportFile(function* () {
    yield Buffer.from(`{"${MEMBER}":`)
    yield* file.chunks()
    yield Buffer.from('}')
  })
  for (const element of jsonElements(wrapped, { [MEMBER]: {} }, maxDepth + 1, ({ length }) => length === 2))
    yield { ...element, path: element.path.slice(1) }
}

const FEED = 10

/** A line of a file without what ends it, in the pieces that it came in. */
interface ByteLine {
  readonly parts: readonly Uint8Array[]
  /** From 1. */
  readonly line: number
  /** A line feed ends it; only the last line may have none. */
  readonly ended: boolean
}

/** The lines of a file as bytes. */
export function* byteLines(file: ImportSource): Generator<ByteLine> {
  let line = 1
  let before: Uint8Array[] = []
  for (const chunk of file.chunks()) {
    let start = 0
    for (let feed = chunk.indexOf(FEED); feed !== -1; feed = chunk.indexOf(FEED, start)) {
      yield { parts: [...before, chunk.subarray(start, feed)], line: line++, ended: true }
      before = []
      start = feed + 1
    }
    before.push(chunk.subarray(start))
  }
  yield { parts: before, line, ended: false }
}

/** The lines of a file without what ends them, numbered from 1. Throws INVALID_IMPORT for bytes that are no text. */
export function* textLines(file: ImportSource): Generator<{ readonly text: string; readonly line: number }> {
  for (const { parts, line } of byteLines(file)) yield { text: textOf(parts), line }
}

/** JSON text of one value of a file; `line` is the line on which the text starts. */
export interface JsonText {
  readonly text: string
  readonly line: number
}

const BLANK = 32

/**
 * The JSON objects and arrays that stand one after another in a file, whether on lines of their own or not, unparsed. What
 * follows the last one, unless it is blank, comes as a text of its own. Throws INVALID_IMPORT for bytes that are no text.
 */
export function* jsonTexts(file: ImportSource): Generator<JsonText> {
  const ends = new ValueEnds()
  let parts: Uint8Array[] = []
  let started = 1
  for (const chunk of file.chunks()) {
    let from = 0
    for (const { at, line } of ends.of(chunk)) {
      yield { text: textOf([...parts, chunk.subarray(from, at)]), line: started }
      parts = []
      from = at
      started = line
    }
    parts.push(chunk.subarray(from))
  }
  if (parts.some((part) => part.some((byte) => byte > BLANK))) yield { text: textOf(parts), line: started }
}

/** Finds where objects and arrays of the first level end, and on which lines. */
class ValueEnds {
  readonly #marks = new JsonMarks()
  #depth = 0
  #line = 1

  #isEnd(byte: number): boolean {
    if (byte === mark.line) this.#line++
    if (byte === mark.object || byte === mark.array) this.#depth++
    if (byte !== mark.objectEnd && byte !== mark.arrayEnd) return false
    this.#depth = Math.max(0, this.#depth - 1)
    return this.#depth === 0
  }

  *of(chunk: Uint8Array): Generator<{ readonly at: number; readonly line: number }> {
    this.#marks.feed(chunk)
    for (let byte = this.#marks.next(); byte !== 0; byte = this.#marks.next())
      if (this.#isEnd(byte)) yield { at: this.#marks.at + 1, line: this.#line }
  }
}

/** Whether more than blanks follow the first object or array. */
export const hasSeveralValues = (file: ImportSource): boolean => {
  const texts = jsonTexts(file)
  return texts.next().done !== true && texts.next().done !== true
}

/** A run as every answer shows it in a list: all of its summary, without attributes. */
export const runSummary = (run: Run) => ({
  id: run.trace_id,
  trace_id: run.trace_id,
  project_id: run.project_id,
  session_id: run.session_id,
  agent_id: run.agent_id,
  task_id: run.task_id,
  agent_name: run.agent_name,
  name: run.name,
  status: run.status,
  failure_tag: run.failure_tag,
  failure_tag_source: run.failure_tag_source,
  failure_evidence: run.failure_evidence,
  start_ns: run.start_ns,
  end_ns: run.end_ns,
  duration_ns: run.duration_ns,
  input_tokens: run.input_tokens,
  cached_input_tokens: run.cached_input_tokens,
  output_tokens: run.output_tokens,
  total_tokens: run.total_tokens,
  cost_micro: run.cost_micro,
  span_count: run.span_count,
  event_count: run.event_count,
  artifact_count: run.artifact_count,
  pinned: run.pinned,
  tags: run.tags,
  origin: run.origin,
  source_trace_id: run.source_trace_id,
  recorded_ns: run.recorded_ns,
})

export type RunSummary = ReturnType<typeof runSummary>

/** A run as exports hold it. */
export const runRecord = (run: Run) => ({ ...runSummary(run), attributes: run.attributes })

/** A span as exports hold it, without its events. */
export const spanRecord = (span: TreeNode) => ({
  id: span.id,
  parent_id: span.parent_id,
  ...(span.declared_parent_id === undefined ? {} : { declared_parent_id: span.declared_parent_id }),
  name: span.name,
  kind: span.kind,
  label: span.label,
  status: span.status,
  status_message: span.status_message,
  start_ns: span.start_ns,
  end_ns: span.end_ns,
  owner: span.owner,
  attributes: span.attributes,
})

/** An event as exports hold it; where it is says which span it belongs to. */
export const eventRecord = (event: TraceEvent) => ({
  id: event.id,
  name: event.name,
  time_ns: event.time_ns,
  severity: event.severity,
  owner: event.owner,
  request_id: event.request_id,
  attributes: event.attributes,
})

/** Artifact metadata as exports hold it. */
export const artifactRecord = (artifact: Artifact) => ({
  id: artifact.id,
  span_id: artifact.span_id,
  path: artifact.path,
  mime_type: artifact.mime_type,
  size: artifact.size,
  sha256: artifact.sha256,
  attributes: artifact.attributes,
})

/** What is sent as one file. */
export interface ImportUnit {
  /** As the user may write it. */
  readonly name: string
  /** Undefined for a stream. */
  readonly bytes: number | undefined
  open(): Readable
}

export interface ImportUnits {
  readonly units: readonly ImportUnit[]
  /** Files were looked for in a folder, so some may be of other kinds. */
  readonly searched: boolean
}

const ENDINGS = /\.(?:json|jsonl|ndjson)(?:\.gz)?$/i
/** Agents nest projects, sessions and subagents; nothing lies deeper. */
const MAX_DEPTH = 8

/** The files that a command line names: stdin for `-`, and all below a folder. Throws USAGE for what cannot be read. */
export const importUnits = async (names: readonly string[], io: Io): Promise<ImportUnits> => {
  const found = await Promise.all(names.map((name) => unitsAt(name, io)))
  return { units: found.flatMap(({ units }) => units), searched: found.some(({ searched }) => searched) }
}

const unitsAt = async (name: string, io: Io): Promise<ImportUnits> => {
  if (name === '-') {
    const { in: input } = io
    if (input === undefined) throw new GuardError('USAGE', 'Nothing comes in that could be imported.')
    return { units: [{ name, bytes: undefined, open: () => Readable.from(input) }], searched: false }
  }
  const path = resolve(io.cwd, name)
  try {
    const found = await stat(path)
    if (!found.isDirectory()) return { units: [await unitOf(name, [path])], searched: false }
    const units = await folderUnits(path, name, 0)
    if (units.length === 0) throw new Error('no file below it ends in .json, .jsonl, .ndjson, or one of these and .gz')
    return { units, searched: true }
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'there is no such file' : message
    throw new GuardError('USAGE', `${name} cannot be read: ${why}.`, { cause })
  }
}

/** A file, or several as one: a session and its subagents. Throws what opening the first one throws. */
const unitOf = async (name: string, paths: readonly string[]): Promise<ImportUnit> => {
  const sizes = await Promise.all(paths.map((path) => stat(path)))
  const [first = ''] = paths
  const file = createReadStream(first)
  await new Promise((ready, failed) => file.once('open', ready).once('error', failed))
  file.destroy()
  const isWhole = sizes.every((one) => one.isFile())
  return {
    name,
    bytes: isWhole ? sizes.reduce((sum, { size }) => sum + size, 0) : undefined,
    open: () => (paths.length === 1 ? createReadStream(first) : Readable.from(joined(paths), { objectMode: false })),
  }
}

/** Files one after another, each on lines of its own. */
async function* joined(paths: readonly string[]): AsyncGenerator<Buffer> {
  for (const path of paths) {
    yield* createReadStream(path) as AsyncIterable<Buffer>
    yield Buffer.from('\n')
  }
}

const byName = (one: Dirent, other: Dirent): number => (one.name < other.name ? -1 : 1)

/** Units below a folder. What lies in `x/` beside `x.jsonl` belongs to that file. */
const folderUnits = async (folder: string, displayPath: string, depth: number): Promise<readonly ImportUnit[]> => {
  const entries = (await readdir(folder, { withFileTypes: true })).sort(byName)
  const folders = new Set(entries.filter((entry) => entry.isDirectory()).map(({ name }) => name))
  const units: ImportUnit[] = []
  for (const { name } of entries.filter((entry) => entry.isFile() && ENDINGS.test(entry.name))) {
    const own = name.replace(/\.jsonl$/i, '')
    const parts = own !== name && folders.delete(own) ? await filesBelow(join(folder, own), depth + 1) : []
    units.push(await unitOf(join(displayPath, name), [join(folder, name), ...parts]))
  }
  if (depth < MAX_DEPTH)
    for (const name of folders)
      units.push(...(await folderUnits(join(folder, name), join(displayPath, name), depth + 1)))
  return units
}

const filesBelow = async (folder: string, depth: number): Promise<readonly string[]> => {
  const paths: string[] = []
  for (const entry of (await readdir(folder, { withFileTypes: true })).sort(byName)) {
    const path = join(folder, entry.name)
    if (entry.isFile() && /\.jsonl$/i.test(entry.name)) paths.push(path)
    else if (entry.isDirectory() && depth < MAX_DEPTH) paths.push(...(await filesBelow(path, depth + 1)))
  }
  return paths
}
