import { isUtf8 } from 'node:buffer'
import { GuardError } from 'guard-gateway/core'
import type { ImportSource, ImportWarning } from 'guard-gateway/lib/export-format'
import { type JsonObject, syntaxErrorAt } from 'guard-gateway/lib/json'
import {
  byteLines,
  errorAt,
  type ImportLocation,
  lineAndPointer,
  parseImport,
  recordAt,
  traceFileErrors,
} from 'guard-gateway/lib/trace-file'

/** Schemas of tools stand in session files. */
const MAX_DEPTH = 256

export interface SessionLine {
  readonly record: JsonObject
  readonly place: ImportLocation & { readonly line: number }
}

/** Called for a line that breaks off. */
export type OnCut = (warning: ImportWarning) => void

/**
 * The records of a session file, one a line. A line that breaks off is ignored: an agent may be writing it, or have died.
 * Throws GuardError with line and pointer for any other that is no JSON object.
 */
export function* sessionLines(file: ImportSource, cut: OnCut): Generator<SessionLine> {
  for (const { parts, line, ended } of byteLines(file)) {
    const bytes = Buffer.concat(parts)
    if (!isUtf8(bytes) && ended)
      throw new GuardError(traceFileErrors.INVALID_IMPORT, `Line ${line}: it is not UTF-8 text.`, { line })
    const text = bytes.toString().trim()
    if (text === '') continue
    const place = { path: [], line }
    const value = parsedUnlessCut(text, line)
    if (value === CUT) cut({ code: 'line_ignored', message: 'The line breaks off and was ignored.', line })
    else yield { record: located(() => recordAt(value, place)), place }
  }
}

const CUT = Symbol('cut')

const parsedUnlessCut = (text: string, line: number): unknown => {
  try {
    return parseImport(text, MAX_DEPTH, line)
  } catch (error) {
    const isCut = text.startsWith('{') && (syntaxErrorAt(text)?.at ?? 0) >= text.length
    if (isCut && error instanceof GuardError && error.code === 'INVALID_JSON') return CUT
    throw error
  }
}

/** Gives a fault in a line its line and pointer. */
export const located = <T>(read: () => T): T => {
  try {
    return read()
  } catch (error) {
    throw errorAt(error, (place) => lineAndPointer('', { ...place, line: place.line ?? 1 }))
  }
}
