import { shortSha256 } from '../ids.ts'
import { DIGITS, isDigested, LONG } from './digest.ts'
import { BYTE_LIMIT, loadedPrograms, mark, places } from './memory.ts'

/** Characters of a stand-in behind the beginning of its text: the mark and a number. */
export const STAND_IN = mark.length + 4

/** What the scan tells of each text, so many numbers a text. */
const ROW = 6

/** A list whose long texts have stand-ins. Whatever it gives as bytes, and all hashes, are there until the next scan. */
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
    if (!isDigested(this.#number(text, 3) - this.#number(text, 2))) return shortSha256(this.collapsed(text))
    const at = places.digests + text * DIGITS
    return this.#bytes.toString('latin1', at, at + DIGITS)
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
 * space, or have characters escaped by number. Undefined for a list over 1 MiB, and where programs cannot be loaded.
 */
export const scanned = (list: Buffer): Scan | undefined => {
  const programs = list.length > BYTE_LIMIT ? null : loadedPrograms()
  if (programs === null) return
  const { bytes, numbers } = programs
  list.copy(bytes, places.given)
  const { given, mark: place, shortened, texts, rows, digests } = places
  const end = programs.scan(given, given + list.length, LONG, place, mark.length, shortened, texts, rows, digests)
  const first = (rows >> 2) + 1
  return new Scan(bytes, numbers.slice(first, first + (numbers[first - 1] ?? 0) * ROW), end)
}

/** The number of a text, whose letters stand there behind its mark: from a to p, the last four bits first. */
export const numberAt = (string: string, at: number): number => {
  let number = 0
  for (let place = 0; place < 4; place++) number |= (string.charCodeAt(at + place) - 0x61) << (4 * place)
  return number
}
