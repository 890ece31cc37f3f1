import type { Code, GuardError } from 'guard-gateway/core'
import { Pace, paced } from 'guard-gateway/lib/time-slice'
import { LongInteger, parseBounded } from './bounded.ts'
import { type JsonChunk, JsonChunker, type OpenContainer } from './chunks.ts'
import { stringAt } from './marks.ts'
import { readJsonStrict, refuseDuplicates, refuseNoText, refuseOutline, type StrictJson } from './reader.ts'
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
