import { shortSha256 } from 'guard-gateway/lib/ids'
import { BYTE_LIMIT, loadedProgram, mark, places } from './memory.ts'

/** From so many bytes on a text has a stand-in. */
const LONG = 128

/** Characters of a stand-in behind the beginning of its text: the mark and a number. */
export const STAND_IN = mark.length + 4

/** What the scan tells of each text, so many numbers a text. */
const ROW = 6

/** A list whose long texts have stand-ins. Bytes of texts, and their hashes, can be asked for until the next scan. */
export class Scan {
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
    return this.#bytes.subarray(places.shortened, this.#end)
  }

  /** All texts, collapsed, one behind the other. */
  get texts(): Buffer {
    return this.#bytes.subarray(places.texts, this.#rows[this.#rows.length - ROW + 3] ?? places.texts)
  }

  /** Where a text goes on behind its beginning, and where it ends: offsets in the list, quotes left out. */
  rest(text: number): { readonly start: number; readonly end: number } {
    return { start: this.#number(text, 0) - places.given, end: this.#number(text, 1) - places.given }
  }

  /** With white space collapsed and trimmed. */
  collapsed(text: number): Buffer {
    return this.#bytes.subarray(this.#number(text, 2), this.#number(text, 3))
  }

  /** The first byte of what it collapses to. */
  first(text: number): number | undefined {
    return this.#bytes[this.#number(text, 2)]
  }

  /** What it is known by. */
  hash(text: number): string {
    return shortSha256(this.collapsed(text))
  }

  /** Its length in UTF-8. */
  bytes(text: number): number {
    return this.#number(text, 4)
  }

  /** Characters of its beginning. */
  beginning(text: number): number {
    return this.#number(text, 5)
  }

  #number(text: number, place: number): number {
    return this.#rows[text * ROW + place] ?? 0
  }
}

/**
 * Puts a stand-in in place of each long text of a JSON list: its beginning, which is white space and up to 32 characters of ASCII,
 * then the mark and four letters for its number. Names of members are left, and so are texts that are data URLs, nothing but white
 * space, or have characters escaped by number. Undefined for a list over 1 MiB, and where the program cannot be loaded.
 */
export const scanned = (list: Buffer): Scan | undefined => {
  const program = list.length > BYTE_LIMIT ? null : loadedProgram()
  if (program === null) return
  const { bytes, numbers } = program
  list.copy(bytes, places.given)
  const { given, mark: place, shortened, texts, rows } = places
  const end = program.scan(given, given + list.length, LONG, place, mark.length, shortened, texts, rows)
  const first = (rows >> 2) + 1
  return new Scan(bytes, numbers.slice(first, first + (numbers[first - 1] ?? 0) * ROW), end)
}

/** The number of a text, whose letters stand there behind its mark: from a to p, the last four bits first. */
export const numberAt = (string: string, at: number): number => {
  let number = 0
  for (let place = 0; place < 4; place++) number |= (string.charCodeAt(at + place) - 0x61) << (4 * place)
  return number
}
