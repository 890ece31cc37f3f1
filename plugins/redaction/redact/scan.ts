import { ALNUM, CODED, classOf, runEnd } from './alphabet.ts'
import { MIN_BASE64, textStart } from './base64.ts'
import type { Command } from './commands.ts'
import type { Hit } from './hit.ts'
import { isIgnorable } from './ignorable.ts'
import { azureKey } from './issued.ts'
import { type Endings, type Level, mayTell, tellsBeyond } from './names.ts'
import { beginsSequence, maySequence } from './terminal.ts'
import { unquotedEnd } from './values.ts'
import type { Work } from './work.ts'

/** What may differ from one redactor to the next. */
export interface Rules {
  readonly levelOf: (name: string) => Level
  readonly endings: Endings
  readonly emails: boolean
  /** Numbers of cards and bank accounts are secrets. */
  readonly accounts: boolean
}

/** Recognises something that begins, or is triggered, at `at`. */
export type Shape = (scan: Scan, at: number) => Hit | undefined

/** A shape that is tried where a word begins so: by its first three characters, or two if it has no more. */
export interface Entry {
  readonly start: string
  readonly shape: Shape
}

/** The shapes by what makes the scanner look: the beginning of a word, or a single sign. */
/** Looks for the value of the name in whose last word, from `at` to `end`, a name may end. */
export type Tell = (scan: Scan, at: number, end: number) => Hit | undefined

export interface Shapes {
  readonly tell: Tell
  readonly words: readonly Entry[]
  readonly signs: ReadonlyMap<number, readonly Shape[]>
}

/** Signs that begin an escape: such a text has a second, decoded form. */
const ESCAPES = new Set(['%', '\\', '&'].map((sign) => sign.charCodeAt(0)))

const SIGN = 1
const ESCAPE = 2
const SEQUENCE = 4
const BRACKET = 0x5b

/** Steps of trying a shape, and of hiding what it found. */
const LOOK = 6
const BRACKETS = 24
const HIT = 64

/** The place of a third character in the row of its pair; all beyond ASCII and the end of the text share one. */
const PLACES = 129
const placeOf = (unit: number): number => (unit < 128 ? unit : 128)

/** Shapes laid out for look-up by character: one table load a character, two more a word. */
export interface Compiled {
  readonly tell: Tell
  readonly signs: Uint8Array
  readonly bySign: readonly (readonly Shape[])[]
  /** The row of the first two characters of a word, none being 0. */
  readonly pairs: Uint16Array
  /** By row and third character: which shapes to try, none being 0. */
  readonly rows: Uint16Array
  readonly lists: readonly (readonly Shape[])[]
}

const compileSigns = (signs: Shapes['signs']): Pick<Compiled, 'signs' | 'bySign'> => {
  const compiled = { signs: new Uint8Array(128), bySign: [] as (readonly Shape[])[] }
  for (const unit of ESCAPES) compiled.signs[unit] = ESCAPE
  compiled.signs[BRACKET] = SEQUENCE
  for (const [unit, shapes] of signs) {
    compiled.signs[unit] = (compiled.signs[unit] ?? 0) | SIGN
    compiled.bySign[unit] = shapes
  }
  return compiled
}

/** The shapes of a row by third character, in the order in which they were entered. */
const rowOf = (entries: readonly Entry[]): readonly (readonly Shape[])[] =>
  Array.from({ length: PLACES }, (_none, place) => {
    const fitting = entries.filter(({ start }) => start.length < 3 || start.charCodeAt(2) === place)
    return [...new Set(fitting.map(({ shape }) => shape))]
  })

export const compile = ({ tell, words, signs }: Shapes): Compiled => {
  const byPair = Map.groupBy(words, ({ start }) => (start.charCodeAt(0) << 7) | start.charCodeAt(1))
  const pairs = new Uint16Array(16_384)
  const rows = new Uint16Array((byPair.size + 1) * PLACES)
  const lists: (readonly Shape[])[] = [[]]
  for (const [pair, entries] of byPair) {
    const row = [...byPair.keys()].indexOf(pair) + 1
    pairs[pair] = row
    for (const [place, shapes] of rowOf(entries).entries()) {
      if (shapes.length === 0) continue
      rows[row * PLACES + place] = lists.length
      lists.push(shapes)
    }
  }
  return { tell, ...compileSigns(signs), pairs, rows, lists }
}

/** A name seen whose value follows apart from it: `name: X`, then `value: …`. */
export interface OpenPair {
  readonly level: Level
  /** Where the name stands. */
  readonly from: number
  /** The value must begin before this offset. */
  readonly until: number
}

/** One pass over one text: what it holds, and whether other forms of it must be looked at. */
export class Scan {
  readonly text: string
  readonly rules: Rules
  readonly hits: Hit[] = []
  /** The text holds escapes or ignorable characters. */
  coded = false
  /** The text may hold escape sequences of a terminal. */
  coloured = false
  /** Runs of base64 that decode to text at least at their beginning, as start and end in turn. */
  readonly runs: number[] = []
  pair: OpenPair | undefined
  /** The program whose options are read. */
  command: Command | undefined
  #runStart = 0
  /** The last run measured, by alphabet: a run is walked once, however many anchors stand in it. */
  #measured: Map<number, readonly [from: number, end: number]> | undefined
  /** The last value without quotes. */
  #value: readonly [from: number, end: number] = [0, -1]
  /** The last place found or missed, by what was searched. */
  #found: Map<string, readonly [from: number, at: number]> | undefined

  readonly #work: Work

  constructor(text: string, rules: Rules, work: Work) {
    this.text = text
    this.rules = rules
    this.#work = work
  }

  /** Counts work beyond that of trying a shape. */
  spend(steps: number): void {
    this.#work.spend(steps)
  }

  /** The end of the run of `alphabet` around `from`. */
  runEnd(from: number, alphabet: number): number {
    this.#measured ??= new Map()
    const last = this.#measured.get(alphabet)
    if (last !== undefined && from >= last[0] && from <= last[1]) return last[1]
    const end = runEnd(this.text, from, alphabet)
    this.#measured.set(alphabet, [from, end])
    return end
  }

  /** The end of the value without quotes around `from`, at most `max` characters on; it is walked once. */
  unquotedEnd(from: number, max = Number.POSITIVE_INFINITY): number {
    const [start, end] = this.#value
    const known = from >= start && from <= end ? end : unquotedEnd(this.text, from)
    if (known !== end) this.#value = [from, known]
    return Math.min(known, from + max)
  }

  /** `indexOf`, which for growing `from` walks the text once in all. */
  indexOf(what: string, from: number): number {
    this.#found ??= new Map()
    const last = this.#found.get(what)
    if (last !== undefined && from >= last[0] && (last[1] === -1 || from <= last[1])) return last[1]
    const at = this.text.indexOf(what, from)
    this.#found.set(what, [from, at])
    return at
  }

  /** The pass, word by word and sign by sign. Behind a hit it goes on at the hit's end, so no character is matched twice. */
  run(shapes: Compiled): this {
    const { length } = this.text
    this.#work.spend(length)
    for (let at = 0; at < length; ) at = this.#step(shapes, at)
    this.#endRun(length)
    return this
  }

  /** Looks at the word or sign at `at`; gives the offset to go on at. */
  #step(shapes: Compiled, at: number): number {
    const unit = this.text.charCodeAt(at)
    const bits = classOf(unit)
    if ((bits & CODED) === 0) this.#endRun(at)
    const isWord = (bits & ALNUM) !== 0
    const hit = isWord ? this.#word(shapes, at, unit) : this.#sign(shapes, at, unit)
    if (hit !== undefined) this.hits.push(hit)
    if (hit !== undefined && hit.end > at) {
      this.#runStart = hit.end
      return hit.end
    }
    const end = isWord ? this.#wordEnd(at + 1) : at + 1
    const tells = isWord
      ? mayTell(this.rules.endings, this.text, end, this.pair !== undefined)
      : unit > 127 && tellsBeyond(this.rules.endings, this.text, at)
    return tells ? this.#tell(shapes, at, end) : end
  }

  /** The name that ends at `end`, with the value behind it; gives the offset to go on at. */
  #tell(shapes: Compiled, at: number, end: number): number {
    const hit = shapes.tell(this, at, end)
    if (hit === undefined) return end
    this.#work.spend(HIT)
    this.hits.push(hit)
    this.coded ||= this.text.slice(end, hit.start).includes('\\')
    this.#endRun(end)
    this.#runStart = hit.end
    return hit.end
  }

  #wordEnd(from: number): number {
    const { text } = this
    const { length } = text
    let at = from
    while (at < length && (classOf(text.charCodeAt(at)) & ALNUM) !== 0) at++
    return at
  }

  #endRun(at: number): void {
    if (at - this.#runStart >= MIN_BASE64) {
      const start = textStart(this.text, this.#runStart, at)
      if (start !== -1) this.runs.push(start, at)
      const key = azureKey(this.text, this.#runStart, at)
      if (key !== undefined) this.hits.push(key)
    }
    this.#runStart = at + 1
  }

  #word(shapes: Compiled, at: number, unit: number): Hit | undefined {
    const next = this.text.charCodeAt(at + 1)
    const row = next < 128 ? (shapes.pairs[(unit << 7) | next] ?? 0) : 0
    if (row === 0) return undefined
    const list = shapes.rows[row * PLACES + placeOf(this.text.charCodeAt(at + 2))] ?? 0
    return list === 0 ? undefined : this.#first(shapes.lists[list], at)
  }

  #sign(shapes: Compiled, at: number, unit: number): Hit | undefined {
    if (unit >= 128 || unit < 0x20) return this.#rare(unit)
    const sign = shapes.signs[unit] ?? 0
    if (sign === 0) return undefined
    if (unit === BRACKET && !this.coloured) this.#bracket(at)
    if ((sign & ESCAPE) !== 0) this.coded = true
    return (sign & SIGN) === 0 ? undefined : this.#first(shapes.bySign[unit], at)
  }

  /** A control, or a character beyond ASCII. */
  #rare(unit: number): undefined {
    if (beginsSequence(unit)) this.coloured = true
    else if (isIgnorable(unit)) this.coded = true
  }

  #bracket(at: number): void {
    this.#work.spend(BRACKETS)
    this.coloured = maySequence(this.text, at)
  }

  #first(shapes: readonly Shape[] = [], at: number): Hit | undefined {
    this.#work.spend(shapes.length * LOOK)
    for (const shape of shapes) {
      const hit = shape(this, at)
      if (hit === undefined) continue
      this.#work.spend(HIT)
      return hit
    }
    return undefined
  }
}
