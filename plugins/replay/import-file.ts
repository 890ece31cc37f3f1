import { isUtf8 } from 'node:buffer'
import {
  type ArtifactDraft,
  type EventDraft,
  type ExportFormat,
  GuardError,
  type Imported,
  type RunDraft,
  type SpanDraft,
} from 'guard-gateway/core'
import { digestOf } from './import-ids.ts'

/** Records that are looked at in one go. */
const SLICE_RECORDS = 500

/** A run that a file holds, without its records. */
export interface FoundRun {
  readonly run: RunDraft
  /** What it says, whatever its ids are called; SHA-256, hex. */
  readonly digest: string
  readonly spans: number
  readonly events: number
  readonly artifacts: number
}

/** Some records of one run; `run` is its place in the file, from 0. */
export interface Slice {
  readonly run: number
  readonly spans: readonly SpanDraft[]
  readonly events: readonly EventDraft[]
  readonly artifacts: readonly ArtifactDraft[]
}

/** The part of an export format that reading a file needs. */
export type FileReader = Pick<ExportFormat, 'accepts' | 'read'>

/** Whether the format reads files at all. */
export const reads = ({ accepts, read }: FileReader): boolean => accepts !== undefined && read !== undefined

/** The text of a file. Throws INVALID_IMPORT where there is none. */
export const textOf = (bytes: Uint8Array): string => {
  if (!isUtf8(bytes)) throw new GuardError('INVALID_IMPORT', 'The file is not UTF-8 text.', { line: 1 })
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
}

/** What a file says, read by the first format that knows it; undefined if none does. Throws what the format finds wrong. */
export const readText = (text: string, formats: Iterable<FileReader>): Imported | undefined => {
  for (const { accepts, read } of formats) if (accepts?.(text)) return read?.(text)
  return undefined
}

/** The runs of a file, each with its digest. */
export const foundRuns = ({ runs }: Imported): readonly FoundRun[] =>
  runs.map((one) => ({
    run: one.run,
    digest: digestOf(one),
    spans: one.spans.length,
    events: one.events.length,
    artifacts: one.artifacts.length,
  }))

/** All records of a file, run by run. */
export function* slicesOf({ runs }: Imported): Generator<Slice> {
  const none = { spans: [], events: [], artifacts: [] }
  for (const [run, { spans, events, artifacts }] of runs.entries()) {
    for (const some of pieces(spans)) yield { ...none, run, spans: some }
    for (const some of pieces(events)) yield { ...none, run, events: some }
    for (const some of pieces(artifacts)) yield { ...none, run, artifacts: some }
  }
}

function* pieces<T>(records: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < records.length; from += SLICE_RECORDS) yield records.slice(from, from + SLICE_RECORDS)
}
