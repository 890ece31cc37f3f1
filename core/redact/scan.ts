import { ALNUM, CODED, classOf, runEnd } from './alphabet.ts'
import { MIN_BASE64, textStart } from './base64.ts'
import type { Hit } from './hit.ts'
import { isIgnorable } from './ignorable.ts'
import type { Level } from './names.ts'

/** What may differ from one redactor to the next. */
export interface Rules {
  readonly levelOf: (name: string) => Level
  readonly emails: boolean
}

/** Recognises something that begins, or is triggered, at `at`. */
export type Shape = (scan: Scan, at: number) => Hit | undefined

/** The shapes by what makes the scanner look: the first two characters of a word, or a single sign. */
export interface Shapes {
  readonly words: ReadonlyMap<number, readonly Shape[]>
  readonly signs: ReadonlyMap<number, readonly Shape[]>
}

/** The key of `Shapes.words` for the first two characters of `word`. */
export const pairOf = (word: string, at = 0): number => (word.charCodeAt(at) << 7) | word.charCodeAt(at + 1)

/** Signs that begin an escape: such a text has a second, decoded form. */
const ESCAPES = new Set(['%', '\\', '&'].map((sign) => sign.charCodeAt(0)))

const SIGN = 1
const ESCAPE = 2

/** Shapes laid out for look-up by character: one table load a character, one more a word. */
export interface Compiled {
  readonly signs: Uint8Array
  readonly bySign: readonly (readonly Shape[])[]
  readonly pairs: Uint16Array
  readonly byPair: readonly (readonly Shape[])[]
}

export const compile = ({ words, signs }: Shapes): Compiled => {
  const compiled = {
    signs: new Uint8Array(128),
    bySign: [] as (readonly Shape[])[],
    pairs: new Uint16Array(16_384),
    byPair: [[]] as (readonly Shape[])[],
  }
  for (const unit of ESCAPES) compiled.signs[unit] = ESCAPE
  for (const [unit, shapes] of signs) {
    compiled.signs[unit] = (compiled.signs[unit] ?? 0) | SIGN
    compiled.bySign[unit] = shapes
  }
  for (const [pair, shapes] of words) {
    compiled.pairs[pair] = compiled.byPair.length
    compiled.byPair.push(shapes)
  }
  return compiled
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
  /** Runs of base64 that decode to text at least at their beginning, as start and end in turn. */
  readonly runs: number[] = []
  pair: OpenPair | undefined
  #runStart = 0
  /** The last run measured, by alphabet: a run is walked once, however many anchors stand in it. */
  #measured: Map<number, readonly [from: number, end: number]> | undefined
  /** The last place found or missed, by what was searched. */
  #found: Map<string, readonly [from: number, at: number]> | undefined

  constructor(text: string, rules: Rules) {
    this.text = text
    this.rules = rules
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
    return isWord ? this.#wordEnd(at + 1) : at + 1
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
    }
    this.#runStart = at + 1
  }

  #word(shapes: Compiled, at: number, unit: number): Hit | undefined {
    if (at + 1 === this.text.length) return undefined
    const next = this.text.charCodeAt(at + 1)
    const group = next < 128 ? (shapes.pairs[(unit << 7) | next] ?? 0) : 0
    return group === 0 ? undefined : this.#first(shapes.byPair[group], at)
  }

  #sign(shapes: Compiled, at: number, unit: number): Hit | undefined {
    if (unit >= 128 || unit < 0x20) {
      if (isIgnorable(unit)) this.coded = true
      return undefined
    }
    const sign = shapes.signs[unit] ?? 0
    if (sign === 0) return undefined
    if ((sign & ESCAPE) !== 0) this.coded = true
    return (sign & SIGN) === 0 ? undefined : this.#first(shapes.bySign[unit], at)
  }

  #first(shapes: readonly Shape[] | undefined, at: number): Hit | undefined {
    for (const shape of shapes ?? []) {
      const hit = shape(this, at)
      if (hit !== undefined) return hit
    }
    return undefined
  }
}
