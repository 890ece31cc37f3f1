import { detector, type Finding, type Rule, type TextWatch } from 'guard-gateway/core'
import { optionalFlag, ruleParams } from 'guard-gateway/lib/detection'

/** So many characters make a chunk. */
const CHUNK = 50
/** Repetitions further apart, on average, are no chant. */
const MEAN_DISTANCE = 250
/** A chant has few texts between its repetitions; a form that is filled in has many. */
const DISTINCT_GAPS = 5

/** One reply that says the same over and over. Flags; with `cut`, a rule that blocks ends the stream as if its tokens had run out. */
export const contentChant = detector({
  id: 'content_chant',
  code: 'LOOP_CONTENT',
  summary: 'A reply repeats itself',
  help: 'Send a new instruction, or ask for a shorter reply.',
  version: '1',
  kind: 'outcome',
  defaults: { threshold: 10, window_size: 0 },
  unit: 'repetitions',
  params: ruleParams({
    cut: optionalFlag('With `block`, in enforce mode: end the stream, not by an error'),
  }),
  reachable: ({ threshold }) => threshold >= 3 && threshold <= 40,
  detect: () => undefined,
  stream: (rule) => new Chant(rule),
})

const BASE = 0x01000193
/** Powers of the base, and prefix hashes of the characters that a chant of 40 can span. */
const SPAN = 16_384
const powers = new Int32Array(SPAN)
powers[0] = 1
for (let index = 1; index < SPAN; index++) powers[index] = Math.imul(powers[index - 1] ?? 0, BASE)

const LF = 10
const BACKTICK = 96

/** Characters that begin a line of a list, table, heading or quote, where repeating is no fault. */
const markers: ReadonlySet<number> = new Set([...'-*+#>|'].map((sign) => sign.charCodeAt(0)))

/** Of a reply that has said nothing. */
const NO_PREFIX = new Int32Array(0)

/** Hashes of one reply's text, never the text: prefix hashes in a ring, and where each chunk stood. */
class Chant implements TextWatch {
  readonly #threshold: number
  #prefix = NO_PREFIX
  /** Where each chunk ended: one place, or several. */
  readonly #places = new Map<number, number | number[]>()
  #hash = 0
  #at = 0
  /** Where counting began anew. */
  #from = 0
  #fresh = true
  #ticks = 0
  #digits = false
  #code = false
  #spoken = false

  constructor({ threshold }: Rule) {
    this.#threshold = Math.max(3, Math.min(threshold, 40))
  }

  push(text: string): Finding | undefined {
    if (this.#prefix.length === 0) this.#prefix = new Int32Array(SPAN)
    for (let index = 0; index < text.length && !this.#spoken; index++) {
      const found = this.#add(text.charCodeAt(index))
      if (found !== undefined) return found
    }
  }

  gap(): void {
    this.#reset()
    this.#code = false
  }

  #add(unit: number): Finding | undefined {
    this.#line(unit)
    this.#hash = (Math.imul(this.#hash, BASE) + unit + 1) | 0
    this.#at++
    this.#prefix[this.#at % SPAN] = this.#hash
    if (this.#code || this.#at - this.#from < CHUNK) return undefined
    const places = this.#stand()
    if (places.length < this.#threshold || !this.#chants(places)) return undefined
    this.#spoken = true
    return {
      message: `the reply said the same ${CHUNK} characters ${places.length} times`,
      evidence: 'stream',
      count: places.length,
    }
  }

  /** Notes the chunk that ends here, unless it overlaps its last place; gives its places, the latest ones. */
  #stand(): readonly number[] {
    const key = this.#between(this.#at - CHUNK, this.#at)
    const known = this.#places.get(key)
    if (known === undefined) {
      this.#places.set(key, this.#at)
      if (this.#places.size > SPAN / 4) this.#forget()
      return NONE
    }
    const places = typeof known === 'number' ? [known] : known
    if (this.#at - (places.at(-1) ?? 0) < CHUNK) return NONE
    if (places !== known) this.#places.set(key, places)
    places.push(this.#at)
    if (places.length > this.#threshold) places.shift()
    return places
  }

  /** Close together, and with few different texts between. */
  #chants(places: readonly number[]): boolean {
    const first = places[0] ?? 0
    const last = places.at(-1) ?? 0
    if (last - first > MEAN_DISTANCE * (places.length - 1)) return false
    const gaps = new Set<number>()
    for (let index = 1; index < places.length; index++) {
      gaps.add(this.#between(places[index - 1] ?? 0, (places[index] ?? 0) - CHUNK))
    }
    return gaps.size <= DISTINCT_GAPS
  }

  /** Hash of the characters from one place to another. */
  #between(start: number, end: number): number {
    const before = this.#prefix[start % SPAN] ?? 0
    return ((this.#prefix[end % SPAN] ?? 0) - Math.imul(before, powers[end - start] ?? 0)) | 0
  }

  /** Lets go of chunks that stood too far back to matter. */
  #forget(): void {
    for (const [key, places] of this.#places) {
      const last = typeof places === 'number' ? places : (places.at(-1) ?? 0)
      if (this.#at - last > MEAN_DISTANCE * this.#threshold) this.#places.delete(key)
    }
  }

  /** Counting starts over where a line begins a list, table, heading or quote, and stops between code fences. */
  #line(unit: number): void {
    if (unit === LF) {
      this.#fresh = true
      this.#ticks = 0
    } else if (this.#fresh && unit === BACKTICK) {
      if (++this.#ticks === 3) {
        this.#code = !this.#code
        this.#reset()
      }
    } else if (this.#fresh && unit > 32) {
      this.#fresh = isDigit(unit)
      if (markers.has(unit) || (unit === DOT && this.#digits)) this.#reset()
      this.#digits = isDigit(unit)
    }
  }

  #reset(): void {
    this.#places.clear()
    this.#from = this.#at
  }
}

const NONE: readonly number[] = Object.freeze([])
const DOT = 46

const isDigit = (unit: number): boolean => unit >= 48 && unit <= 57
