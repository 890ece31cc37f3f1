import { createHash } from 'node:crypto'
import { GuardError } from 'guard-gateway/core'
import type { ImportContext, ImportedRecord, ImportedRun, ImportReading, ImportSource } from '#lib/export-format'
import { sha256 } from '#lib/ids'
import { canonicalJson } from '#lib/trace'
import { type ImportFile, traceFileErrors } from '#lib/trace-file'

/** Records per slice. */
const SLICE_RECORDS = 500

/** A format that reads files: one of import, or one of export that can read as well. */
export interface FileReader {
  readonly id: string
  readonly title?: string
  readonly module?: string
  accepts?(file: ImportSource): boolean
  read?(file: ImportSource, context: ImportContext): ImportReading
}

export const reads = ({ accepts, read }: Pick<FileReader, 'accepts' | 'read'>): boolean =>
  accepts !== undefined && read !== undefined

/** What a format read, and its id. */
export interface FormatReading extends ImportReading {
  readonly format: string
}

/** Reads a file with the first format that accepts it; undefined if none does. Throws errors of the format. */
export const readFile = (
  file: ImportFile,
  formats: Iterable<FileReader>,
  context: ImportContext,
): FormatReading | undefined => {
  for (const { id, accepts, read } of formats) {
    if (accepts?.(file) !== true) continue
    const reading = read?.(file, context)
    return reading && { ...reading, format: id }
  }
  return undefined
}

/** All records of a file in slices; returns the digest of each run. */
export function* slicesOf(reading: ImportReading): Generator<readonly ImportedRecord[], readonly string[]> {
  const digests = new Digests(reading.runs)
  let slice: ImportedRecord[] = []
  for (const one of reading.records()) {
    digests.add(one)
    slice.push(one)
    if (slice.length < SLICE_RECORDS) continue
    yield slice
    slice = []
  }
  if (slice.length > 0) yield slice
  return digests.end()
}

/** Error for an unknown format, with the known ones. */
export const unknownFile = (formats: readonly FileReader[]): GuardError => {
  const known = formats.map(({ id, title }) => title ?? id)
  return new GuardError(
    traceFileErrors.INVALID_IMPORT,
    `The file is of no known format; there is ${known.join(', ')}.`,
    {
      known,
      line: 1,
    },
  )
}

const kinds = ['span', 'event', 'artifact'] as const

const hashes = () => ({ span: createHash('sha256'), event: createHash('sha256'), artifact: createHash('sha256') })

/** SHA-256 (hex) of each run of a file, independent of ids and project, computed as records are read. */
class Digests {
  readonly #runs: readonly ImportedRun[]
  readonly #hashes: readonly ReturnType<typeof hashes>[]

  constructor(runs: readonly ImportedRun[]) {
    this.#runs = runs
    this.#hashes = runs.map(hashes)
  }

  add({ kind, run, parent, record }: ImportedRecord): void {
    const { id: _id, ...about } = record
    const own = { ...about, parent_id: undefined, span_id: undefined, parent }
    this.#hashes[run]?.[kind].update(`${canonicalJson(own)}\n`)
  }

  /** Digest of each run, after all records. */
  end(): readonly string[] {
    return this.#hashes.map((of, place) => {
      const { trace_id: _trace, project_id: _project, ...about } = this.#runs[place]?.run ?? {}
      return sha256(canonicalJson([about, kinds.map((kind) => of[kind].digest('hex'))]))
    })
  }
}
