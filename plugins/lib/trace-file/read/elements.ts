import { GuardError } from 'guard-gateway/core'
import type { ImportSource } from 'guard-gateway/lib/export-format'
import { type JsonPath, readJson } from 'guard-gateway/lib/json'
import { ImportFault, type ImportLocation, lineAndPointer } from './import-fault.ts'
import { Broken, type Lists, Splitter } from './splitter.ts'
import { parseImport } from './text.ts'

/** A part of a JSON file that was read on its own: an element of a list, or what is around such lists. */
export interface JsonElement {
  readonly path: JsonPath
  /** Line of the file on which `text` starts. */
  readonly line: number
  /** Its own JSON, in which the lists that were read apart are empty. */
  readonly text: string
  readonly value: unknown
}

/**
 * The elements of the named lists of a JSON file one by one, and after those of each list what held them, the whole last;
 * those that are wanted alone, others are not even parsed.
 * Throws TOO_DEEP, INVALID_JSON with line and column, and INVALID_IMPORT for bytes that are no text.
 */
export function* jsonElements(
  file: ImportSource,
  lists: Lists,
  maxDepth: number,
  wants: (path: JsonPath) => boolean = all,
): Generator<JsonElement> {
  try {
    for (const part of partsOf(file, new Splitter(lists, maxDepth)))
      if (wants(part.path)) yield { ...part, value: readJson(part.text) }
  } catch (error) {
    if (!(error instanceof Broken || error instanceof SyntaxError)) throw error
    // where it is broken only a look at the whole text can tell
    parseImport(file.text(), maxDepth)
    throw new GuardError('INVALID_JSON', 'The file is no JSON.', { line: 1, cause: error })
  }
}

const all = (): boolean => true

function* partsOf(file: ImportSource, splitter: Splitter) {
  for (const chunk of file.chunks()) {
    splitter.feed(chunk)
    yield* splitter.taken()
  }
  splitter.end()
  yield* splitter.taken()
}

/** Line and pointer of a place inside an element. */
export const locationInElement = (
  { path, line, text }: JsonElement,
  place: ImportLocation,
): { line: number; path: string } => {
  const within = lineAndPointer(text, { path: place.path.slice(path.length) })
  return { line: line + within.line - 1, path: lineAndPointer('', { ...place, line: 1 }).path }
}

/** The GuardError that a fault becomes, with line and pointer; any other error as it is. */
export const errorAt = (error: unknown, placed: (place: ImportLocation) => { line: number; path: string }): unknown => {
  if (!(error instanceof ImportFault)) return error
  const { line, path } = placed(error.place)
  return new GuardError(error.entry, `Line ${line}${path === '' ? '' : `, ${path}`}: ${error.message}`, { line, path })
}
