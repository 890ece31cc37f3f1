import type { ImportSource } from 'guard-gateway/lib/export-format'
import { JsonMarks, mark } from 'guard-gateway/lib/json'
import { textOf } from './file.ts'

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
