import { JsonMarks, mark } from './marks.ts'

/** Sees mark by mark how deep a JSON text nests, and what its top level names. Needs no valid JSON: that is for the parser to find. */
export class JsonOutline {
  readonly #max_depth: number
  readonly #max_names: number
  #depth = 0
  #last = 0
  #isObject = false
  /** Offsets of the names at the top level, where the text is an object; one more than `max_names` at most. */
  readonly names: number[] = []
  /** Offset of the first bracket that goes deeper than `max_depth`; -1 if none does. */
  too_deep = -1

  constructor(max_depth: number, max_names: number) {
    this.#max_depth = max_depth
    this.#max_names = max_names
  }

  /** Takes the next mark. */
  mark(byte: number, at: number): void {
    if (byte === mark.line) return
    if (byte === mark.string) this.#string(at)
    else if (byte === mark.array || byte === mark.object) this.#open(byte, at)
    else if (byte === mark.arrayEnd || byte === mark.objectEnd) this.#depth--
    this.#last = byte
  }

  #string(at: number): void {
    const isName = this.#depth === 1 && (this.#last === mark.object || this.#last === mark.comma)
    if (this.#isObject && isName && this.names.length <= this.#max_names) this.names.push(at)
  }

  #open(byte: number, at: number): void {
    this.#isObject ||= this.#last === 0 && byte === mark.object
    if (++this.#depth > this.#max_depth && this.too_deep === -1) this.too_deep = at
  }
}

/** The outline of a text; where it goes too deep, up to there. */
export const outlineOf = (bytes: Uint8Array, max_depth: number, max_names: number): JsonOutline => {
  const outline = new JsonOutline(max_depth, max_names)
  const marks = new JsonMarks(bytes)
  for (let byte = marks.next(); byte !== 0 && outline.too_deep === -1; byte = marks.next()) outline.mark(byte, marks.at)
  return outline
}

/** Offset of the bracket that goes deeper than `limit`, -1 if none does; brackets inside strings do not count. Needs no valid JSON. */
export const tooDeepAt = (bytes: Uint8Array, limit: number): number => outlineOf(bytes, limit, -1).too_deep
