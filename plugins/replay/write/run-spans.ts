import { isNestedBy, MAX_OF_REPLY, type Reply, type ReportedCall, repeatedCalls } from '../repeated-calls.ts'
import { SpanFlags, SpanTable, type SummedSpan, type Use } from './span-table.ts'

/** Estimated size of one missing parent. */
const MISSING_PARENT_BYTES = 100

/** Sums over all spans of a run. */
export interface Sums {
  input: bigint
  cached: bigint
  output: bigint
  cost: bigint
  /** Start of the first top-level span; null without spans. */
  start_ns: bigint | null
  /** Start of the first of all spans: earlier only by a clock that is slow. */
  earliest_ns: bigint | null
  end_ns: bigint | null
  running: number
  failed: number
  /** The top-level span that ended last. */
  last: SummedSpan | null
}

const emptySums = (): Sums => ({
  input: 0n,
  cached: 0n,
  output: 0n,
  cost: 0n,
  start_ns: null,
  earliest_ns: null,
  end_ns: null,
  running: 0,
  failed: 0,
  last: null,
})

/** A call that an instrumentation tells of. */
interface ReportedIndex extends ReportedCall {
  readonly index: number
}

const isReported = (reported: ReportedIndex | undefined): reported is ReportedIndex => reported !== undefined

/** The spans of one run, and incremental sums over them. */
export class RunSpans {
  readonly #spans = new SpanTable()
  /** Parents that were named and have not arrived. */
  readonly #missingParents = new Set<string>()
  readonly #replies = new ReportedReplies()
  #sums: Sums = emptySums()
  /** The sums must be recomputed on demand: children that arrive before their parents would cost a recount each. */
  #stale = false

  get sums(): Sums {
    if (this.#stale) this.#recount()
    return this.#sums
  }

  get size(): number {
    return this.#spans.size
  }

  /** Estimated size in memory. */
  get bytes(): number {
    return this.#spans.bytes + this.#missingParents.size * MISSING_PARENT_BYTES + this.#replies.bytes
  }

  get(id: string): SummedSpan | undefined {
    const index = this.#spans.indexOf(id)
    return index === undefined ? undefined : this.#spans.at(index)
  }

  /** Some span names this id as its parent, and the parent has not arrived. */
  isMissingParent(id: string): boolean {
    return this.#missingParents.size > 0 && this.#missingParents.has(id)
  }

  /** Adds a span, or replaces the one with its id. */
  set(span: SummedSpan): void {
    const old = this.get(span.id)
    const simple = old === undefined && !this.#missingParents.has(span.id)
    const isEnd = old !== undefined && this.#onlyEnds(old, span)
    const isAncestor = isEnd && this.#spans.hasFlag(this.#spans.indexOf(span.id) ?? 0, SpanFlags.ancestor)
    const index = this.#spans.set(span)
    if (isAncestor) this.#spans.setFlag(index, SpanFlags.ancestor)
    if (span.parent !== null && !this.#spans.has(span.parent)) this.#missingParents.add(span.parent)
    this.#missingParents.delete(span.id)
    this.#replies.set(index, span.reply)
    if (this.#stale) return
    if (simple) this.#insert(index, span)
    else if (old !== undefined && isEnd) this.#end(index, old, span)
    else this.#stale = true
  }

  /** The span was running and has ended, and no other sum depends on it. Long sessions do so with every call. */
  #onlyEnds(old: SummedSpan, span: SummedSpan): boolean {
    const { parent, start_ns, end_ns, use } = old
    const ended = end_ns === null && span.end_ns !== null && span.end_ns !== this.#sums.last?.end_ns
    return ended && use === null && span.use === null && parent === span.parent && start_ns === span.start_ns
  }

  #end(index: number, old: SummedSpan, span: SummedSpan): void {
    this.#sums.running--
    if (old.status === 'error') this.#sums.failed--
    this.#add(index, span, null)
  }

  /** `use`: the part of its use that counts. */
  #add(index: number, span: SummedSpan, use: Use | null): void {
    const sums = this.#sums
    const isTop = this.#isTop(span)
    sums.earliest_ns = earlier(sums.earliest_ns, span.start_ns)
    if (isTop) sums.start_ns = earlier(sums.start_ns, span.start_ns)
    const reached = span.end_ns ?? span.start_ns
    if (sums.end_ns === null || reached > sums.end_ns) sums.end_ns = reached
    if (span.end_ns === null) sums.running++
    if (span.status === 'error') sums.failed++
    if (isTop && span.end_ns !== null && (sums.last?.end_ns ?? -1n) <= span.end_ns) sums.last = span
    if (use !== null) this.#count(index, use)
  }

  /** Adds a span that none names as its parent. */
  #insert(index: number, span: SummedSpan): void {
    this.#add(index, span, span.use)
    if (!this.#replies.isShared(index)) return
    const indexes = this.#replies.with(index)
    // of a pair without anything below, one counts; else the whole run tells which
    if (indexes.length > 2 || indexes.some((at) => this.#spans.hasFlag(at, SpanFlags.ancestor))) this.#stale = true
    else for (const at of this.#repeatedIn(indexes)) this.#uncount(at)
  }

  #isTop({ parent }: SummedSpan): boolean {
    return parent === null || !this.#spans.has(parent)
  }

  /** Counts a span instead of its ancestors, which report the same use. */
  #count(index: number, use: Use): void {
    this.#spans.setFlag(index, SpanFlags.counted)
    this.#sum(use, 1n)
    this.#visitAncestors(index, (ancestor) => {
      // which of two spans with its reply counts depends on what is below them
      if (this.#replies.isShared(ancestor)) this.#stale = true
      this.#uncount(ancestor)
    })
  }

  #uncount(index: number): void {
    const use = this.#spans.useAt(index)
    if (use === null || !this.#spans.hasFlag(index, SpanFlags.counted)) return
    this.#spans.clearFlag(index, SpanFlags.counted)
    this.#sum(use, -1n)
  }

  #sum(use: Use, sign: bigint): void {
    this.#sums.input += sign * use.input
    this.#sums.cached += sign * use.cached
    this.#sums.output += sign * use.output
    this.#sums.cost += sign * use.cost
  }

  #recount(): void {
    this.#stale = false
    this.#sums = emptySums()
    const spans = this.#spans
    for (let index = 0; index < spans.size; index++) spans.clearFlag(index, SpanFlags.counted | SpanFlags.ancestor)
    for (let index = 0; index < spans.size; index++)
      if (spans.useAt(index) !== null) this.#visitAncestors(index, () => {})
    const repeated = this.#repeated()
    for (let index = 0; index < spans.size; index++) {
      const counts = !spans.hasFlag(index, SpanFlags.ancestor) && !repeated.has(index)
      this.#add(index, spans.at(index), counts ? spans.useAt(index) : null)
    }
  }

  /** Indexes of spans whose call another span beside them tells of. */
  #repeated(): ReadonlySet<number> {
    const repeated = new Set<number>()
    for (const indexes of this.#replies.shared()) for (const at of this.#repeatedIn(indexes)) repeated.add(at)
    return repeated
  }

  #repeatedIn(indexes: readonly number[]): readonly number[] {
    const places = {
      isNested: (one: ReportedIndex, other: ReportedIndex) =>
        isNestedBy(one.index, other.index, (at) => this.#parentAt(at)),
      isAbove: ({ index }: ReportedIndex) => this.#spans.hasFlag(index, SpanFlags.ancestor),
    }
    return repeatedCalls(indexes.map((at) => this.#reported(at)).filter(isReported), places).map(({ index }) => index)
  }

  #parentAt(index: number): number | undefined {
    const parent = this.#spans.parentAt(index)
    return parent === null ? undefined : this.#spans.indexOf(parent)
  }

  #reported(index: number): ReportedIndex | undefined {
    const { id, start_ns, end_ns, use } = this.#spans.at(index)
    const reply = this.#replies.get(index)
    return use === null || reply === undefined ? undefined : { id, index, reply, start_ns, end_ns, ...use }
  }

  /** Flags and visits the ancestors of a span, up to the root or a missing parent. No span is visited twice, however deep the tree. */
  #visitAncestors(from: number, visit: (index: number) => void): void {
    const spans = this.#spans
    for (let at = from; ; ) {
      const parent = spans.parentAt(at)
      const ancestor = parent === null ? undefined : spans.indexOf(parent)
      if (ancestor === undefined || ancestor === from || spans.hasFlag(ancestor, SpanFlags.ancestor)) return
      spans.setFlag(ancestor, SpanFlags.ancestor)
      visit(ancestor)
      at = ancestor
    }
  }
}

const earlier = (one: bigint | null, other: bigint): bigint => (one === null || other < one ? other : one)

/** Estimated size of the reply of one span. */
const REPLY_BYTES = 250

/** Replies that spans of a run tell of, by index of the span. */
class ReportedReplies {
  readonly #replies = new Map<number, Reply>()
  readonly #indexes = new Map<string, number[]>()

  /** Estimated size in memory. */
  get bytes(): number {
    return this.#replies.size * REPLY_BYTES
  }

  /** Remembers, replaces or forgets the reply of a span. */
  set(index: number, reply: Reply | undefined): void {
    const old = this.#replies.get(index)
    if (old?.id === reply?.id && old?.scope === reply?.scope) return
    if (old !== undefined) {
      this.#replies.delete(index)
      const rest = this.#of(old).filter((other) => other !== index)
      if (rest.length === 0) this.#indexes.delete(old.id)
      else this.#indexes.set(old.id, rest)
    }
    if (reply === undefined) return
    this.#replies.set(index, reply)
    const others = this.#indexes.get(reply.id)
    if (others === undefined) this.#indexes.set(reply.id, [index])
    else others.push(index)
  }

  get(index: number): Reply | undefined {
    return this.#replies.get(index)
  }

  /** Another instrumentation tells of the same reply. */
  isShared(index: number): boolean {
    const indexes = this.with(index)
    // one more than identifies a reply undoes what was found before
    if (indexes.length < 2 || indexes.length > MAX_OF_REPLY + 1) return false
    const scope = this.#replies.get(index)?.scope
    return indexes.some((other) => this.#replies.get(other)?.scope !== scope)
  }

  /** Indexes of spans with the reply of a span, and its own; none if it has no reply. */
  with(index: number): readonly number[] {
    const reply = this.#replies.get(index)
    return reply === undefined ? [] : this.#of(reply)
  }

  /** Spans by reply, where there are several. */
  *shared(): Generator<readonly number[]> {
    for (const indexes of this.#indexes.values()) if (indexes.length > 1) yield indexes
  }

  #of({ id }: Reply): readonly number[] {
    return this.#indexes.get(id) ?? []
  }
}
