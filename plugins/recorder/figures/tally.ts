import type { Addends } from 'guard-gateway/core'
import type { FigureBucket, FigureSeries, FigureSums } from 'guard-gateway/lib/trace'
import { OTHER } from './hour-sums.ts'
import { DURATION_COUNTS, SUMS } from './measures.ts'
import { quantile } from './quantile.ts'
import type { HourRow } from './tables.ts'

/** Groups that are told apart while they are added up, and those that are told. */
const MOST_KEPT = 2_000
export const MOST_SERIES = 50

const BY_DECISION: Readonly<Record<string, 'allowed' | 'flagged' | 'blocked'>> = {
  allow: 'allowed',
  shadow_flag: 'flagged',
  block: 'blocked',
}

type Counts = Record<Exclude<keyof FigureSums, 'p50_ms' | 'p95_ms'>, number>

const noCounts = (): Counts =>
  Object.fromEntries([...SUMS, ...Object.values(BY_DECISION)].map((name) => [name, 0])) as Counts

/** Sums of some calls, and how long those of them took that were not blocked. */
class Tally {
  readonly #sums = noCounts()
  readonly #took: number[] = DURATION_COUNTS.map(() => 0)

  get requests(): number {
    return this.#sums.requests
  }

  add(decision: string, more: Addends<HourRow>): void {
    for (const name of SUMS) this.#sums[name] += more[name] ?? 0
    const kind = BY_DECISION[decision]
    if (kind !== undefined) this.#sums[kind] += more.requests ?? 0
    if (kind === 'blocked') return
    for (const [at, name] of DURATION_COUNTS.entries()) this.#took[at] = (this.#took[at] ?? 0) + (more[name] ?? 0)
  }

  addAll(other: Tally): void {
    for (const name of Object.keys(this.#sums) as (keyof Counts)[]) this.#sums[name] += other.#sums[name]
    for (const [at, count] of other.#took.entries()) this.#took[at] = (this.#took[at] ?? 0) + count
  }

  figures(): FigureSums {
    return { ...this.#sums, p50_ms: quantile(0.5, this.#took), p95_ms: quantile(0.95, this.#took) }
  }
}

/** The calls of one group, by bucket. */
class Series {
  readonly totals = new Tally()
  readonly #buckets = new Map<number, Tally>()

  at(bucket: number): Tally {
    const known = this.#buckets.get(bucket) ?? new Tally()
    this.#buckets.set(bucket, known)
    return known
  }

  add(bucket: number, decision: string, sums: Addends<HourRow>): void {
    this.totals.add(decision, sums)
    this.at(bucket).add(decision, sums)
  }

  addAll(other: Series): void {
    this.totals.addAll(other.totals)
    for (const [bucket, tally] of other.#buckets) this.at(bucket).addAll(tally)
  }

  buckets(starts: readonly number[]): FigureBucket[] {
    const inOrder = [...this.#buckets].sort(([one], [other]) => one - other)
    return inOrder.map(([bucket, tally]) => ({ at: starts[bucket] ?? 0, ...tally.figures() }))
  }
}

/** Adds calls up by group and bucket. */
export class Tallies {
  readonly #all = new Series()
  readonly #series = new Map<string | null, Series>()

  add(group: string | null, bucket: number, decision: string, sums: Addends<HourRow>): void {
    this.#all.add(bucket, decision, sums)
    this.#seriesOf(group).add(bucket, decision, sums)
  }

  totals(): FigureSums {
    return this.#all.totals.figures()
  }

  buckets(starts: readonly number[]): FigureBucket[] {
    return this.#all.buckets(starts)
  }

  series(starts: readonly number[]): FigureSeries[] {
    const others = this.#series.get(OTHER) ?? new Series()
    const named = [...this.#series].filter(([group]) => group !== OTHER)
    const busiest = named.sort(
      ([oneName, one], [otherName, other]) =>
        other.totals.requests - one.totals.requests || ((oneName ?? '') < (otherName ?? '') ? -1 : 1),
    )
    for (const [, series] of busiest.slice(MOST_SERIES)) others.addAll(series)
    const told = busiest.slice(0, MOST_SERIES)
    if (others.totals.requests > 0) told.push([OTHER, others])
    return told.map(([group, series]) => ({ group, totals: series.totals.figures(), buckets: series.buckets(starts) }))
  }

  #seriesOf(group: string | null): Series {
    const name = this.#series.has(group) || this.#series.size < MOST_KEPT ? group : OTHER
    const known = this.#series.get(name) ?? new Series()
    this.#series.set(name, known)
    return known
  }
}
