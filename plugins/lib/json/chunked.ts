import type { Code, GuardError } from 'guard-gateway/core'
import { Pace, paced } from '#lib/time-slice'
import { JsonMarks, mark, stringAt } from './marks.ts'
import { JsonOutline } from './outline.ts'
import {
  LongInteger,
  parseBounded,
  readJsonStrict,
  refuseDuplicates,
  refuseNoText,
  refuseOutline,
  type StrictJson,
} from './reader.ts'
import { MAX_MEMBERS, strictFaults, type TextLocation } from './strict-faults.ts'
import { lineAndColumn, syntaxErrorAt } from './syntax.ts'

/** A text up to this many bytes is parsed at once, in a few milliseconds. */
const SMALL = 262_144

/** Reads JSON as `readJsonStrict` does, a long text chunk by chunk, in turns with other work. Throws the same. */
export const readJsonChunked = async (bytes: Buffer, options: StrictJson, pace = new Pace()): Promise<unknown> => {
  if (bytes.length <= SMALL) return readJsonStrict(bytes, options)
  const { max_depth, code = 'INVALID_JSON', unique = false } = options
  refuseNoText(bytes, code)
  const chunker = new JsonChunker(bytes, max_depth, unique ? MAX_MEMBERS : -1)
  await paced(chunker.steps(), pace)
  const { chunks, outline } = chunker
  refuseOutline(bytes, outline, max_depth, code)
  const assembly = new Assembly(bytes, code)
  for (const chunk of chunks) {
    assembly.add(chunk)
    if (pace.due) await pace.rest()
  }
  const value = assembly.value()
  refuseDuplicates(bytes, outline, value, code)
  return value
}

type List = unknown[]
type Members = Record<string, unknown>

/** Makes one value of the chunks of a text. */
class Assembly {
  readonly #bytes: Buffer
  readonly #code: Code
  /** Names of members that stand in for what is in other chunks; no text can know them. */
  readonly #earlier = `${crypto.randomUUID()}<`
  readonly #later = `${crypto.randomUUID()}>`
  #value: unknown
  /** The containers that are open after the last chunk, outermost first. */
  #open: unknown[] = []
  #fault: GuardError | undefined

  constructor(bytes: Buffer, code: Code) {
    this.#bytes = bytes
    this.#code = code
  }

  /** Throws for a chunk that is no JSON where it is. */
  add(chunk: JsonChunk): void {
    const part = this.#parsed(chunk)
    // what is wrong with a number is only said of a text that is JSON to the end
    if (this.#fault !== undefined) return
    if (chunk.before.length === 0) this.#value = part
    else this.#join(chunk.before, part)
    this.#follow(chunk)
  }

  /** Throws for an integer that is too long. */
  value(): unknown {
    if (this.#fault !== undefined) throw this.#fault
    return this.#value
  }

  #parsed(chunk: JsonChunk): unknown {
    const before = this.#opening(chunk.before)
    const own = this.#bytes.toString('utf8', chunk.from, chunk.to)
    const text = before + own + this.#closing(chunk.after)
    try {
      return parseBounded(text)
    } catch (error) {
      if (error instanceof LongInteger) {
        const place = this.#placeIn(chunk, own, own.indexOf(error.message))
        this.#fault ??= strictFaults.longInteger(this.#code, error.message.length, place)
        return undefined
      }
      if (!(error instanceof SyntaxError)) throw error
      const { at, expected } = syntaxErrorAt(text) ?? { at: before.length, expected: 'JSON' }
      throw strictFaults.noJson(this.#code, expected, this.#placeIn(chunk, own, at - before.length), at >= text.length)
    }
  }

  #placeIn({ from, line, line_start }: JsonChunk, own: string, at: number): TextLocation {
    const within = lineAndColumn(own, at)
    const ahead = within.line === 1 ? this.#bytes.toString('utf8', line_start, from).length : 0
    return { line: line + within.line - 1, column: ahead + within.column }
  }

  /** Opens containers as if something was in them already: a comma may not come first. */
  #opening(open: readonly OpenContainer[]): string {
    const outer = open.slice(0, -1).map(({ isList }) => (isList ? '[' : `{"${this.#earlier}":`))
    const top = open.at(-1)
    return top === undefined ? '' : `${outer.join('')}${top.isList ? '[0,' : `{"${this.#earlier}":0,`}`
  }

  /** Closes containers as if something more was in the innermost: a comma came last. */
  #closing(open: readonly OpenContainer[]): string {
    const outer = open.slice(0, -1).map(({ isList }) => (isList ? ']' : '}'))
    const top = open.at(-1)
    return top === undefined ? '' : `${top.isList ? '0]' : `"${this.#later}":0}`}${outer.reverse().join('')}`
  }

  /** Adds what a chunk says to the containers that were open before it. */
  #join(before: readonly OpenContainer[], part: unknown): void {
    let from = part
    for (const [depth, { isList }] of before.entries()) {
      const into = this.#open[depth]
      const inner = isList ? (from as List)[0] : (from as Members)[this.#earlier]
      if (isList) append(into as List, from as List)
      else this.#assign(into as Members, from as Members)
      from = inner
    }
  }

  #assign(into: Members, from: Members): void {
    for (const name of Object.keys(from)) {
      if (name === this.#earlier) continue
      if (name === '__proto__') Object.defineProperty(into, name, { value: from[name], ...OWN })
      else into[name] = from[name]
    }
  }

  /** Finds the containers that are open after a chunk, and takes out what stood in for later chunks. */
  #follow({ before, after }: JsonChunk): void {
    const open: unknown[] = []
    for (const [depth, { at }] of after.entries())
      open.push(before[depth]?.at === at ? this.#open[depth] : this.#lastIn(after[depth - 1], open[depth - 1]))
    this.#open = open
    const top = open.at(-1)
    if (Array.isArray(top)) top.pop()
    else if (top !== undefined) delete (top as Members)[this.#later]
  }

  #lastIn(above: OpenContainer | undefined, container: unknown): unknown {
    if (above === undefined) return this.#value
    if (above.isList) return (container as List).at(-1)
    return (container as Members)[stringAt(this.#bytes, above.name)]
  }
}

const OWN = { writable: true, enumerable: true, configurable: true }

/** All but the first, which stands in for what is there. */
const append = (into: List, from: List): void => {
  for (let at = 1; at < from.length; at++) into.push(from[at])
}

/** Bytes that are examined in one go, and of which a chunk is made; as much JSON is parsed in about a millisecond. */
const CHUNK_BYTES = 65_536

/** An array or object that is open somewhere in a text. */
interface OpenContainer {
  readonly isList: boolean
  /** Offset of its bracket, by which it is known. */
  readonly at: number
  /** Of an object: offset of the last string in it, which is the name of the member that is open. */
  readonly name: number
}

/** A section of a JSON text from after one comma to after another, or from the beginning, or to the end. */
interface JsonChunk {
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
class JsonChunker {
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
