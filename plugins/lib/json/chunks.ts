import { mark } from './marks.ts'

/** Bytes that are looked at in one go, and of which a chunk is made; as much JSON is parsed in about a millisecond. */
export const CHUNK_BYTES = 65_536

/** An array or object that is open somewhere in a text. */
export interface OpenContainer {
  readonly isList: boolean
  /** Offset of its bracket, by which it is known. */
  readonly at: number
  /** Of an object: offset of the last string in it, which is the name of the member that is open. */
  readonly name: number
}

/** A stretch of a JSON text from behind one comma to behind another, or from the beginning, or to the end. */
export interface JsonChunk {
  readonly from: number
  readonly to: number
  /** What is open at its beginning and at its end, outermost first. */
  readonly before: readonly OpenContainer[]
  readonly after: readonly OpenContainer[]
  /** Line of its beginning, from 1, and the offset where that line begins. */
  readonly line: number
  readonly line_start: number
}

interface Frame {
  readonly isList: boolean
  readonly at: number
  name: number
}

const BLANK = 0x20
const BACKSLASH = 0x5c

const isMark = new Uint8Array(256)
for (const byte of [mark.string, mark.array, mark.arrayEnd, mark.object, mark.objectEnd, mark.comma]) isMark[byte] = 1

/** Cuts the bytes of a JSON text into chunks, and sees how deep it nests and what its top level names. Needs no valid JSON: that is for the parser to find. */
export class JsonChunker {
  readonly #bytes: Uint8Array
  readonly #max_depth: number
  readonly #open: Frame[] = []
  #at = 0
  #inString = false
  /** The last byte that is no blank; of a string its quote. */
  #last = 0
  #depth = 0
  #isObject = false
  /** A bracket that does not fit, or the end of the value: what follows is one chunk. */
  #ended = false
  #line = 1
  #lineStart = 0
  #from: Omit<JsonChunk, 'to' | 'after'> = { from: 0, before: [], line: 1, line_start: 0 }
  readonly chunks: JsonChunk[] = []
  /** Offsets of the names at the top level, where the text is an object; one more than `max_names` at most. */
  readonly names: number[] = []
  readonly #max_names: number
  /** Offset of the first bracket that goes deeper than `max_depth`; -1 if none does. */
  too_deep = -1

  constructor(bytes: Uint8Array, max_depth: number, max_names: number) {
    this.#bytes = bytes
    this.#max_depth = max_depth
    this.#max_names = max_names
  }

  /** Goes through the text, yielding as often as it has looked at so many bytes. */
  *steps(): Generator<void> {
    while (this.#at < this.#bytes.length && this.too_deep === -1) {
      this.#look(Math.min(this.#bytes.length, this.#at + CHUNK_BYTES))
      yield
    }
    // what is still open is missing its end, which the parser is to find
    this.#open.length = 0
    this.#cut(this.#bytes.length)
  }

  #look(end: number): void {
    const bytes = this.#bytes
    let at = this.#at
    while (at < end && this.too_deep === -1) {
      if (this.#inString) {
        at = this.#stringEnd(at, end)
        continue
      }
      const byte = bytes[at] ?? 0
      if (byte > BLANK) {
        if (isMark[byte] === 1) this.#mark(byte, at)
        this.#last = byte
      } else if (byte === mark.line) {
        this.#line++
        this.#lineStart = at + 1
      }
      at++
    }
    this.#at = at
  }

  /** The offset behind the string, or where to look on. */
  #stringEnd(from: number, end: number): number {
    const bytes = this.#bytes
    let at = from
    while (at < end) {
      const byte = bytes[at]
      if (byte === mark.string) {
        this.#inString = false
        return at + 1
      }
      at += byte === BACKSLASH ? 2 : 1
    }
    return at
  }

  #mark(byte: number, at: number): void {
    if (byte === mark.string) this.#string(at)
    else if (byte === mark.array || byte === mark.object) this.#enter(byte, at)
    else if (byte !== mark.comma) this.#close(byte)
    else if (at - this.#from.from >= CHUNK_BYTES && this.#open.length > 0) this.#cut(at + 1)
  }

  #enter(byte: number, at: number): void {
    this.#isObject ||= this.#last === 0 && byte === mark.object
    if (++this.#depth > this.#max_depth) this.too_deep = at
    if (!this.#ended) this.#open.push({ isList: byte === mark.array, at, name: -1 })
  }

  #string(at: number): void {
    this.#inString = true
    const isName = this.#depth === 1 && (this.#last === mark.object || this.#last === mark.comma)
    if (this.#isObject && isName && this.names.length <= this.#max_names) this.names.push(at)
    const top = this.#open.at(-1)
    if (top !== undefined) top.name = at
  }

  #close(byte: number): void {
    this.#depth--
    const top = this.#ended ? undefined : this.#open.pop()
    this.#ended ||= top === undefined || top.isList !== (byte === mark.arrayEnd) || this.#open.length === 0
    if (this.#ended) this.#open.length = 0
  }

  #cut(to: number): void {
    const after = this.#open.map((frame) => ({ ...frame }))
    this.chunks.push({ ...this.#from, to, after })
    this.#from = { from: to, before: after, line: this.#line, line_start: this.#lineStart }
  }
}
