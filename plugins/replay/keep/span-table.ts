import type { SummedSpan, Use } from './run-spans.ts'

/** What is noted of a span beside its values; a bit each. */
export const Marks = {
  /** Its use counts: no model span of known use stands below it. */
  counted: 1,
  /** Some span of known use stands below it. */
  above: 2,
} as const
const ENDED = 4
const GUARDED = 8
const USED = 16

/** Of one span: start, end, input, output, cost. */
const VALUES = 5
/** What a span takes beside its values, about: its id as text and in the index, its parent, its status, its marks. */
const SPAN_BYTES = 165
const FIRST = 16

/**
 * Spans of one run in columns, each known by its place: an object a span, with five integers of any size, takes half as much again, and as many objects to look through for the collector.
 * Integers are kept to 64 bits.
 */
export class SpanTable {
  readonly #places = new Map<string, number>()
  readonly #ids: string[] = []
  readonly #parents: (string | null)[] = []
  readonly #statuses: string[] = []
  #values = new BigInt64Array(FIRST * VALUES)
  #marks = new Uint8Array(FIRST)

  get size(): number {
    return this.#ids.length
  }

  /** What it takes, about. */
  get bytes(): number {
    return this.#values.byteLength + this.#marks.byteLength + this.#ids.length * SPAN_BYTES
  }

  /** The place of a span; undefined if it has not come. */
  placeOf(id: string): number | undefined {
    return this.#places.get(id)
  }

  has(id: string): boolean {
    return this.#places.has(id)
  }

  /** Puts a span behind the others, or in the place of the one with its id; gives its place. Its marks are cleared. */
  set(span: SummedSpan): number {
    const { id, parent, status, start_ns, end_ns, guarded, use } = span
    let place = this.#places.get(id)
    if (place === undefined) {
      place = this.#ids.push(id) - 1
      this.#places.set(id, place)
      if (place === this.#marks.length) this.#grow()
    }
    this.#parents[place] = parent
    this.#statuses[place] = status
    this.#values.set([start_ns, end_ns ?? 0n, use?.input ?? 0n, use?.output ?? 0n, use?.cost ?? 0n], place * VALUES)
    this.#marks[place] = (end_ns === null ? 0 : ENDED) | (guarded ? GUARDED : 0) | (use === null ? 0 : USED)
    return place
  }

  at(place: number): SummedSpan {
    const from = place * VALUES
    return {
      id: this.#ids[place] ?? '',
      parent: this.parentAt(place),
      status: this.#statuses[place] ?? '',
      start_ns: this.#values[from] ?? 0n,
      end_ns: this.#has(place, ENDED) ? (this.#values[from + 1] ?? 0n) : null,
      guarded: this.#has(place, GUARDED),
      use: this.useAt(place),
    }
  }

  parentAt(place: number): string | null {
    return this.#parents[place] ?? null
  }

  useAt(place: number): Use | null {
    if (!this.#has(place, USED)) return null
    const from = place * VALUES + 2
    return {
      input: this.#values[from] ?? 0n,
      output: this.#values[from + 1] ?? 0n,
      cost: this.#values[from + 2] ?? 0n,
    }
  }

  /** Whether it has the mark. */
  isMarked(place: number, mark: number): boolean {
    return this.#has(place, mark)
  }

  mark(place: number, mark: number): void {
    this.#marks[place] = (this.#marks[place] ?? 0) | mark
  }

  unmark(place: number, mark: number): void {
    this.#marks[place] = (this.#marks[place] ?? 0) & ~mark
  }

  #has(place: number, mark: number): boolean {
    return ((this.#marks[place] ?? 0) & mark) !== 0
  }

  #grow(): void {
    const length = Math.ceil(this.#marks.length * 1.5)
    const values = new BigInt64Array(length * VALUES)
    values.set(this.#values)
    const marks = new Uint8Array(length)
    marks.set(this.#marks)
    this.#values = values
    this.#marks = marks
  }
}
