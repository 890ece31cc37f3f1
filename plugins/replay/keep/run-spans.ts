import { Marks, SpanTable } from './span-table.ts'

/** Of one parent that has not come, about. */
const AWAITED_BYTES = 100

/** What one model span used. */
export interface Use {
  readonly input: bigint
  readonly output: bigint
  readonly cost: bigint
}

/** As much of a span as a run's summary needs. */
export interface SummedSpan {
  readonly id: string
  readonly parent: string | null
  readonly status: string
  readonly start_ns: bigint
  readonly end_ns: bigint | null
  /** Written by the gateway or the MCP proxy: nobody else changes it. */
  readonly guarded: boolean
  /** Null: no model span, or one that says nothing of its use. */
  readonly use: Use | null
}

/** What follows from all spans of a run together. */
export interface Sums {
  input: bigint
  output: bigint
  cost: bigint
  /** Null without spans. */
  start_ns: bigint | null
  end_ns: bigint | null
  running: number
  failed: number
  /** Of the spans below the root, the one that ended last. */
  last: SummedSpan | null
}

const noSums = (): Sums => ({
  input: 0n,
  output: 0n,
  cost: 0n,
  start_ns: null,
  end_ns: null,
  running: 0,
  failed: 0,
  last: null,
})

/** The spans of one run, and sums over them that are kept up as spans come. */
export class RunSpans {
  readonly #spans = new SpanTable()
  /** Parents that were named and have not come. */
  readonly #awaited = new Set<string>()
  #sums: Sums = noSums()
  /** The sums have to be made anew when somebody asks: children that come before their parents would have it done for each. */
  #stale = false

  get sums(): Sums {
    if (this.#stale) this.#recount()
    return this.#sums
  }

  get size(): number {
    return this.#spans.size
  }

  /** What they take in memory, about. */
  get bytes(): number {
    return this.#spans.bytes + this.#awaited.size * AWAITED_BYTES
  }

  get(id: string): SummedSpan | undefined {
    const place = this.#spans.placeOf(id)
    return place === undefined ? undefined : this.#spans.at(place)
  }

  /** Some span names this one as its parent, which has not come. */
  isAwaited(id: string): boolean {
    return this.#awaited.size > 0 && this.#awaited.has(id)
  }

  /** Adds a span, or puts it in the place of the one with its id. */
  set(span: SummedSpan): void {
    const old = this.get(span.id)
    const simple = old === undefined && !this.#awaited.has(span.id)
    const isEnd = old !== undefined && this.#onlyEnds(old, span)
    const isAbove = isEnd && this.#spans.isMarked(this.#spans.placeOf(span.id) ?? 0, Marks.above)
    const place = this.#spans.set(span)
    if (isAbove) this.#spans.mark(place, Marks.above)
    if (span.parent !== null && !this.#spans.has(span.parent)) this.#awaited.add(span.parent)
    this.#awaited.delete(span.id)
    if (this.#stale) return
    if (simple) this.#add(place, span, span.use)
    else if (old !== undefined && isEnd) this.#end(place, old, span)
    else this.#stale = true
  }

  /** The span was running and has ended, and no other sum depends on it: what long sessions do with every call. */
  #onlyEnds(old: SummedSpan, span: SummedSpan): boolean {
    const { parent, start_ns, end_ns, use } = old
    const ended = end_ns === null && span.end_ns !== null && span.end_ns !== this.#sums.last?.end_ns
    return ended && use === null && span.use === null && parent === span.parent && start_ns === span.start_ns
  }

  #end(place: number, old: SummedSpan, span: SummedSpan): void {
    this.#sums.running--
    if (old.status === 'error') this.#sums.failed--
    this.#add(place, span, null)
  }

  /** `use`: what is counted of its use. */
  #add(place: number, span: SummedSpan, use: Use | null): void {
    const sums = this.#sums
    if (sums.start_ns === null || span.start_ns < sums.start_ns) sums.start_ns = span.start_ns
    const reached = span.end_ns ?? span.start_ns
    if (sums.end_ns === null || reached > sums.end_ns) sums.end_ns = reached
    if (span.end_ns === null) sums.running++
    if (span.status === 'error') sums.failed++
    if (this.#isTop(span) && span.end_ns !== null && (sums.last?.end_ns ?? -1n) <= span.end_ns) sums.last = span
    if (use !== null) this.#count(place, use)
  }

  #isTop({ parent }: SummedSpan): boolean {
    return parent === null || !this.#spans.has(parent)
  }

  /** Counts a span and no longer those above it, which tell of the same use. */
  #count(place: number, use: Use): void {
    this.#spans.mark(place, Marks.counted)
    this.#sum(use, 1n)
    this.#passUp(place, (above) => {
      const told = this.#spans.useAt(above)
      if (told === null || !this.#spans.isMarked(above, Marks.counted)) return
      this.#spans.unmark(above, Marks.counted)
      this.#sum(told, -1n)
    })
  }

  #sum(use: Use, sign: bigint): void {
    this.#sums.input += sign * use.input
    this.#sums.output += sign * use.output
    this.#sums.cost += sign * use.cost
  }

  #recount(): void {
    this.#stale = false
    this.#sums = noSums()
    const spans = this.#spans
    for (let place = 0; place < spans.size; place++) spans.unmark(place, Marks.counted | Marks.above)
    for (let place = 0; place < spans.size; place++) if (spans.useAt(place) !== null) this.#passUp(place, () => {})
    for (let place = 0; place < spans.size; place++)
      this.#add(place, spans.at(place), spans.isMarked(place, Marks.above) ? null : spans.useAt(place))
  }

  /** Marks the spans above one, up to the root or to a parent that has not come, and tells of each. No span is passed twice, however deep the tree. */
  #passUp(from: number, tell: (place: number) => void): void {
    const spans = this.#spans
    for (let at = from; ; ) {
      const parent = spans.parentAt(at)
      const above = parent === null ? undefined : spans.placeOf(parent)
      if (above === undefined || above === from || spans.isMarked(above, Marks.above)) return
      spans.mark(above, Marks.above)
      tell(above)
      at = above
    }
  }
}
