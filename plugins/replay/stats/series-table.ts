import { type Buckets, bucketAt } from 'guard-gateway/lib/time'
import { type Counted, type StatsSums, Tally } from './tally.ts'

/** Series of an answer; the others are one together. */
const MAX_SERIES = 50
/** Groups that are told apart while they are added up. */
const MAX_GROUPS = 2_000
const OTHER = '(other)'

/** The runs or calls of one group. */
export interface Series {
  /** Null: those that have no such group, and all where nothing is grouped by. `(other)`: groups that were too many. */
  readonly group: string | null
  readonly totals: StatsSums
  /** In order; those without any are left out. Times are milliseconds since 1970. */
  readonly buckets: readonly (StatsSums & { readonly at: number })[]
}

interface Entry {
  readonly totals: Tally
  readonly buckets: Map<number, Tally>
}

/** Adds up by group and by stretch of time. */
export class SeriesTable {
  readonly #buckets: Buckets
  readonly #totals = new Tally()
  readonly #series = new Map<string | null, Entry>()

  constructor(buckets: Buckets) {
    this.#buckets = buckets
  }

  /** `at`: milliseconds since 1970. */
  add(group: string | null, at: number, one: Counted): void {
    const entry = this.#entry(group)
    const bucket = Math.max(0, bucketAt(this.#buckets.starts, at))
    const tally = entry.buckets.get(bucket) ?? new Tally()
    entry.buckets.set(bucket, tally)
    for (const each of [this.#totals, entry.totals, tally]) each.add(one)
  }

  #entry(group: string | null): Entry {
    const known = this.#series.get(group)
    if (known !== undefined) return known
    if (this.#series.size >= MAX_GROUPS && group !== OTHER) return this.#entry(OTHER)
    const entry = { totals: new Tally(), buckets: new Map<number, Tally>() }
    this.#series.set(group, entry)
    return entry
  }

  answer(): { readonly totals: StatsSums; readonly series: readonly Series[] } {
    const sorted = [...this.#series].sort(([, a], [, b]) => b.totals.count - a.totals.count)
    const shown = sorted.slice(0, MAX_SERIES).map(([group, entry]) => this.#seriesOf(group, entry))
    const rest = sorted.slice(MAX_SERIES).map(([, entry]) => entry)
    const others = rest.length === 0 ? [] : [this.#seriesOf(OTHER, merged(rest))]
    return { totals: this.#totals.sums(), series: [...shown, ...others] }
  }

  #seriesOf(group: string | null, { totals, buckets }: Entry): Series {
    const ordered = [...buckets].sort(([a], [b]) => a - b)
    return {
      group,
      totals: totals.sums(),
      buckets: ordered.map(([at, tally]) => ({ at: this.#buckets.starts[at] ?? 0, ...tally.sums() })),
    }
  }
}

const merged = (entries: readonly Entry[]): Entry => {
  const all: Entry = { totals: new Tally(), buckets: new Map() }
  for (const { totals, buckets } of entries) {
    all.totals.addAll(totals)
    for (const [at, tally] of buckets) {
      const into = all.buckets.get(at) ?? new Tally()
      all.buckets.set(at, into)
      into.addAll(tally)
    }
  }
  return all
}
