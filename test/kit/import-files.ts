import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SpanDraft } from 'guard-gateway/core'
import type { ImportFormat, ImportReading } from 'guard-gateway/lib/export-format'
import { argumentHash } from 'guard-gateway/lib/trace'
import { importFile } from 'guard-gateway/lib/trace-file'

const data = join(import.meta.dirname, '../data')

/** Paths of the recorded files below a folder of test/data, in order. */
export const recordedFiles = (folder: string): readonly string[] =>
  readdirSync(join(data, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()

/** The recorded files below a folder of test/data as one file. */
export const recording = (folder: string): string =>
  recordedFiles(folder)
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n')

export const ARGUMENT_KEY = 'key of a test'

/** Reads a text with a format; throws as it does. */
export const readImport = (format: Pick<ImportFormat, 'read'>, text: string | Uint8Array): ImportReading =>
  format.read(importFile(text), { argumentHash: (args) => argumentHash(ARGUMENT_KEY, args) })

/** Its spans in the order of their starts; those that start together stay as they are. */
export const spansIn = (reading: ImportReading, run?: number): readonly SpanDraft[] =>
  [...reading.records()]
    .filter((one) => run === undefined || one.run === run)
    .flatMap((one) => (one.kind === 'span' ? [one.record] : []))
    .sort((a, b) => Number((a.start_ns ?? 0n) - (b.start_ns ?? 0n)))

/** A span with what is asked of its attributes. */
export const spanFacts = ({ name, status, attributes = {} }: SpanDraft, ...names: readonly string[]) => ({
  name,
  status,
  ...Object.fromEntries(names.filter((key) => attributes[key] !== undefined).map((key) => [key, attributes[key]])),
})
