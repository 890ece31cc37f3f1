import { JsonMarks, mark } from './marks.ts'
import { JsonOutline } from './outline.ts'

/** Bytes that are examined in one go, and of which a chunk is made; as much JSON is parsed in about a millisecond. */
export const CHUNK_BYTES = 65_536

/** An array or object that is open somewhere in a text. */
export interface OpenContainer {
  readonly isList: boolean
  /** Offset of its bracket, by which it is known. */
  readonly at: number
  /** Of an object: offset of the last string in it, which is the name of the member that is open. */
  readonly name: number
}

/** A section of a JSON text from after one comma to after another, or from the beginning, or to the end. */
export interface JsonChunk {
  readonly from: number
  readonly to: number
  /** What is open at its beginning and at its end, outermost first. */
  readonly before: readonly OpenContainer[]
  readonly after: readonly OpenContainer[]
  /** Line of its beginning, from 1, and the offset where that line starts. */
  readonly line: number
  readonly line_start: number
}

interface Frame {
  readonly isList: boolean
  readonly at: number
  name: number
}

/** Cuts the bytes of a JSON text into chunks, with its outline. Needs no valid JSON: that is for the parser to find. */
export class JsonChunker {
  readonly #bytes: Uint8Array
  readonly #marks = new JsonMarks()
  readonly #open: Frame[] = []
  /** A bracket that does not fit, or the end of the value: what follows is one chunk. */
  #ended = false
  #line = 1
  #lineStart = 0
  #from: Omit<JsonChunk, 'to' | 'after'> = { from: 0, before: [], line: 1, line_start: 0 }
  readonly chunks: JsonChunk[] = []
  readonly outline: JsonOutline

  constructor(bytes: Uint8Array, max_depth: number, max_names: number) {
    this.#bytes = bytes
    this.outline = new JsonOutline(max_depth, max_names)
  }

  /** Scans the text and yields after each block of bytes. */
  *steps(): Generator<void> {
    for (let from = 0; from < this.#bytes.length && this.outline.too_deep === -1; from += CHUNK_BYTES) {
      this.#look(from)
      yield
    }
    // what is still open is missing its end, which the parser is to find
    this.#open.length = 0
    this.#cut(this.#bytes.length)
  }

  #look(from: number): void {
    const { outline } = this
    const marks = this.#marks
    marks.feed(this.#bytes.subarray(from, from + CHUNK_BYTES))
    for (let byte = marks.next(); byte !== 0 && outline.too_deep === -1; byte = marks.next()) {
      outline.mark(byte, from + marks.at)
      this.#mark(byte, from + marks.at)
    }
  }

  #mark(byte: number, at: number): void {
    if (byte === mark.string) this.#string(at)
    else if (byte === mark.array || byte === mark.object) this.#enter(byte, at)
    else if (byte === mark.arrayEnd || byte === mark.objectEnd) this.#close(byte)
    else if (byte === mark.line) {
      this.#line++
      this.#lineStart = at + 1
    } else if (byte === mark.comma && at - this.#from.from >= CHUNK_BYTES && this.#open.length > 0) this.#cut(at + 1)
  }

  #enter(byte: number, at: number): void {
    if (!this.#ended) this.#open.push({ isList: byte === mark.array, at, name: -1 })
  }

  #string(at: number): void {
    const top = this.#open.at(-1)
    if (top !== undefined) top.name = at
  }

  #close(byte: number): void {
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
