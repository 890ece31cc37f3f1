import { randomBytes } from 'node:crypto'
import { program } from './program.ts'

/** In every stand-in, and by itself in no text: nobody can guess it. */
export const mark = `<${randomBytes(6).toString('base64url')}>`

/** Characters of a stand-in behind the beginning of its text: the mark and a number. */
export const STAND_IN = mark.length + 4

/** What larger lists are written to would be kept; they are parsed as they are. */
const LIST_LIMIT = 1024 * 1024

/** Shorter texts are parsed sooner than replaced. */
const LONG = 128

/** Where in the program's memory its mark, a list and what it makes of it stand; behind a list it looks at some bytes more. */
const REGION = LIST_LIMIT + 4096
const MARK_PLACE = 64
const LIST = 4096
const SHORTENED = LIST + REGION
const TEXTS = SHORTENED + REGION
const ROWS = TEXTS + REGION

/** What the program tells of each text, so many numbers a text. */
const ROW = 6

/** As much of WebAssembly as is used; Node's types have none of it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: unknown }
}

interface Program {
  readonly memory: { readonly buffer: ArrayBuffer }
  scan(
    at: number,
    limit: number,
    long: number,
    mark: number,
    marked: number,
    shortened: number,
    texts: number,
    rows: number,
  ): number
}

interface Loaded {
  readonly scan: Program['scan']
  readonly bytes: Buffer
  readonly numbers: Int32Array
}

/** Null where there is no WebAssembly, or no address space for its memory: then lists are parsed as they are. */
const load = (): Loaded | null => {
  try {
    return loadProgram()
  } catch {
    return null
  }
}

const loadProgram = (): Loaded => {
  const module = new WebAssembly.Module(Buffer.from(program, 'base64'))
  const { memory, scan } = new WebAssembly.Instance(module).exports as Program
  Buffer.from(memory.buffer).write(mark, MARK_PLACE, 'latin1')
  return { scan, bytes: Buffer.from(memory.buffer), numbers: new Int32Array(memory.buffer) }
}

/** Made for the first list: most commands never read one. */
let loaded: Loaded | null | undefined

/** A list whose long texts have stand-ins. Whatever it gives as a buffer is written over by the next scan. */
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
    return this.#bytes.subarray(SHORTENED, this.#end)
  }

  /** All texts, collapsed, one behind the other. */
  get texts(): Buffer {
    return this.#bytes.subarray(TEXTS, this.#rows[this.#rows.length - ROW + 3] ?? TEXTS)
  }

  /** Where a text goes on behind its beginning, and where it ends: offsets in the list, quotes left out. */
  rest(text: number): { readonly start: number; readonly end: number } {
    return { start: this.#number(text, 0) - LIST, end: this.#number(text, 1) - LIST }
  }

  /** With white space collapsed and trimmed. */
  collapsed(text: number): Uint8Array {
    const start = this.#number(text, 2)
    return new Uint8Array(this.#bytes.buffer, start, this.#number(text, 3) - start)
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
  if (loaded === undefined) loaded = load()
  if (loaded === null || list.length > LIST_LIMIT) return
  const { scan, bytes, numbers } = loaded
  list.copy(bytes, LIST)
  const end = scan(LIST, LIST + list.length, LONG, MARK_PLACE, mark.length, SHORTENED, TEXTS, ROWS)
  const first = (ROWS >> 2) + 1
  return new Scan(bytes, numbers.slice(first, first + (numbers[first - 1] ?? 0) * ROW), end)
}

/** The number of a text, whose letters stand there behind its mark: from a to p, the last four bits first. */
export const numberAt = (string: string, at: number): number => {
  let number = 0
  for (let place = 0; place < 4; place++) number |= (string.charCodeAt(at + place) - 0x61) << (4 * place)
  return number
}
