import type { Code } from 'guard-gateway/core'
import { type JsonPath, lineAndColumnAt, pointerOf } from '#lib/json'

/** Where in an import file something is: the path in its JSON text and, in a format of lines, the line from 1. */
export interface ImportLocation {
  readonly path: JsonPath
  readonly line?: number
}

/** What is wrong with an import file and where; formats hand it out as a GuardError with line and pointer. */
export class ImportFault extends Error {
  readonly entry: Code
  readonly place: ImportLocation
  constructor(entry: Code, message: string, place: ImportLocation) {
    super(message)
    this.entry = entry
    this.place = place
  }
  get code(): string {
    return typeof this.entry === 'string' ? this.entry : this.entry.id
  }
}

/** The place of a member of what is at `place`. */
export const memberLocation = (place: ImportLocation, ...keys: JsonPath): ImportLocation => ({
  ...place,
  path: [...place.path, ...keys],
})

/** Line and pointer of a place in `text`. */
export const lineAndPointer = (text: string, { path, line }: ImportLocation): { line: number; path: string } => ({
  line: line ?? lineAndColumnAt(text, path).line,
  path: pointerOf(path),
})
