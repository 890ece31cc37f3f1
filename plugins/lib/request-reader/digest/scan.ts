import { shortSha256 } from 'guard-gateway/lib/ids'
import { BYTE_LIMIT, loadedProgram, marker, offsets } from './memory.ts'

/** Texts of so many bytes or more are replaced by placeholders. */
const LONG_BYTES = 128

/** Characters of a placeholder after the beginning of its text: the marker and a number. */
export const PLACEHOLDER_CHARS = marker.length + 4

/** The program returns a row of so many numbers for each text. */
const ROW = 6

/** A list whose long texts are replaced by placeholders. Bytes and hashes of the texts are available until the next scan. */
export class LongTextScan {
  readonly #bytes: Buffer
  readonly #rows: Int32Array
  readonly #end: number

  constructor(bytes: Buffer, rows: Int32Array, end: number) {
    this.#bytes = bytes
    this.#rows = rows
    this.#end = end
  }

  /** JSON if the list is. */
  get json(): Buffer {
    return this.#bytes.subarray(offsets.shortened, this.#end)
  }

  /** All texts one after another, with white space collapsed. */
  get texts(): Buffer {
    return this.#bytes.subarray(offsets.texts, this.#rows[this.#rows.length - ROW + 3] ?? offsets.texts)
  }

  /** The span of a text after its beginning: offsets in the list, without quotes. */
  rest(text: number): { readonly start: number; readonly end: number } {
    return { start: this.#number(text, 0) - offsets.given, end: this.#number(text, 1) - offsets.given }
  }

  /** A text with white space collapsed and trimmed. */
  collapsed(text: number): Buffer {
    return this.#bytes.subarray(this.#number(text, 2), this.#number(text, 3))
  }

  /** The first byte of a collapsed text. */
  first(text: number): number | undefined {
    return this.#bytes[this.#number(text, 2)]
  }

  /** The hash of a collapsed text: the first 128 bits of SHA-256, hex. */
  hash(text: number): string {
    return shortSha256(this.collapsed(text))
  }

  /** The length of a text in UTF-8 bytes. */
  bytes(text: number): number {
    return this.#number(text, 4)
  }

  /** The number of characters of the beginning that stays before the placeholder. */
  beginning(text: number): number {
    return this.#number(text, 5)
  }

  #number(text: number, place: number): number {
    return this.#rows[text * ROW + place] ?? 0
  }
}

/**
 * Replaces each long text of a JSON list by a placeholder: the beginning of the text, which is white space and up to 32 characters of
 * ASCII, then the marker and four letters for its number. Names of members stay, and so do texts that are data URLs, only white space,
 * or have `\u` escapes. Undefined for a list over 1 MiB, and if the program cannot be loaded.
 */
export const scanLongTexts = (list: Buffer): LongTextScan | undefined => {
  const program = list.length > BYTE_LIMIT ? null : loadedProgram()
  if (program === null) return
  const { bytes, numbers } = program
  list.copy(bytes, offsets.given)
  const { given, marker: markerOffset, shortened, texts, rows } = offsets
  const end = program.scan(given, given + list.length, LONG_BYTES, markerOffset, marker.length, shortened, texts, rows)
  const first = (rows >> 2) + 1
  return new LongTextScan(bytes, numbers.slice(first, first + (numbers[first - 1] ?? 0) * ROW), end)
}

/** The number of a text from the four letters after its marker: `a` to `p`, the lowest four bits first. */
export const numberAt = (string: string, at: number): number => {
  let number = 0
  for (let place = 0; place < 4; place++) number |= (string.charCodeAt(at + place) - 0x61) << (4 * place)
  return number
}
