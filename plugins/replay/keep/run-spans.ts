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
  readonly #spans = new Map<string, SummedSpan>()
  /** Model spans whose use counts: those with no model span of known use below them. */
  readonly #counted = new Set<string>()
  /** Spans with some span of known use below them, up to the root or to a parent that has not come. */
  readonly #above = new Set<string>()
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

  get(id: string): SummedSpan | undefined {
    return this.#spans.get(id)
  }

  /** Some span names this one as its parent, which has not come. */
  isAwaited(id: string): boolean {
    return this.#awaited.size > 0 && this.#awaited.has(id)
  }

  /** Adds a span, or puts it in the place of the one with its id. */
  set(span: SummedSpan): void {
    const old = this.#spans.get(span.id)
    const simple = old === undefined && !this.#awaited.has(span.id)
    this.#spans.set(span.id, span)
    if (span.parent !== null && !this.#spans.has(span.parent)) this.#awaited.add(span.parent)
    this.#awaited.delete(span.id)
    if (this.#stale) return
    if (simple) this.#add(span)
    else if (old !== undefined && this.#onlyEnds(old, span)) this.#end(old, span)
    else this.#stale = true
  }

  /** The span was running and has ended, and no other sum depends on it: what long sessions do with every call. */
  #onlyEnds(old: SummedSpan, span: SummedSpan): boolean {
    const { parent, start_ns, end_ns, use } = old
    const ended = end_ns === null && span.end_ns !== null && span.end_ns !== this.#sums.last?.end_ns
    return ended && use === null && span.use === null && parent === span.parent && start_ns === span.start_ns
  }

  #end(old: SummedSpan, span: SummedSpan): void {
    this.#sums.running--
    if (old.status === 'error') this.#sums.failed--
    this.#add(span)
  }

  #add(span: SummedSpan): void {
    const sums = this.#sums
    if (sums.start_ns === null || span.start_ns < sums.start_ns) sums.start_ns = span.start_ns
    const reached = span.end_ns ?? span.start_ns
    if (sums.end_ns === null || reached > sums.end_ns) sums.end_ns = reached
    if (span.end_ns === null) sums.running++
    if (span.status === 'error') sums.failed++
    if (this.#isTop(span) && span.end_ns !== null && (sums.last?.end_ns ?? -1n) <= span.end_ns) sums.last = span
    if (span.use !== null) this.#count(span, span.use)
  }

  #isTop({ parent }: SummedSpan): boolean {
    return parent === null || !this.#spans.has(parent)
  }

  /** Counts a span and no longer those above it, which tell of the same use. No span is passed twice, however deep the tree. */
  #count(span: SummedSpan, use: Use): void {
    this.#counted.add(span.id)
    this.#sum(use, 1n)
    for (let at = span.parent; at !== null && !this.#above.has(at) && at !== span.id; ) {
      const above = this.#spans.get(at)
      if (above === undefined) return
      this.#above.add(at)
      if (above.use !== null && this.#counted.delete(at)) this.#sum(above.use, -1n)
      at = above.parent
    }
  }

  #sum(use: Use, sign: bigint): void {
    this.#sums.input += sign * use.input
    this.#sums.output += sign * use.output
    this.#sums.cost += sign * use.cost
  }

  #recount(): void {
    this.#stale = false
    this.#sums = noSums()
    this.#counted.clear()
    this.#above.clear()
    for (const span of this.#spans.values()) if (span.use !== null) this.#passUp(span)
    for (const span of this.#spans.values()) this.#add(this.#above.has(span.id) ? { ...span, use: null } : span)
  }

  #passUp(span: SummedSpan): void {
    for (let at = span.parent; at !== null && !this.#above.has(at) && at !== span.id; ) {
      const above = this.#spans.get(at)
      if (above === undefined) return
      this.#above.add(at)
      at = above.parent
    }
  }
}
