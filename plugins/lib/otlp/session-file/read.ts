import type { ImportContext, ImportReading, ImportSource, ImportWarning } from 'guard-gateway/lib/export-format'
import { readConvertedFile } from '../converted-file.ts'
import type { Recorded } from './entries.ts'
import type { OnCut } from './lines.ts'
import { sessionSpans } from './spans.ts'

/** What is recorded in a session file, in its order; `cut` is told of lines that break off. Throws GuardError with line and pointer. */
export type SessionReader = (file: ImportSource, cut: OnCut) => Iterable<Recorded>

const MAX_NAMED = 20
const EMPTY: Omit<ImportReading, 'warnings'> = { runs: [], records: () => [] }
const NOTHING: ImportWarning = { code: 'nothing_found', message: 'The file holds no request of an agent.' }

/** Reads a session file as runs: a run a session, without what people, models and tools said. */
export const readSessionFile = (read: SessionReader, file: ImportSource, context: ImportContext): ImportReading => {
  let cut: ImportWarning[] = []
  const ignored: OnCut = (warning) => {
    if (cut.length < MAX_NAMED && !cut.some(({ line }) => line === warning.line)) cut.push(warning)
  }
  if (read(file, ignored)[Symbol.iterator]().next().done === true) return { ...EMPTY, warnings: [...cut, NOTHING] }
  const reading = readConvertedFile(() => {
    cut = []
    return sessionSpans(read(file, ignored), context)
  })
  return { ...reading, warnings: [...cut, ...reading.warnings] }
}
