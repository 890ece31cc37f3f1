import { median } from '../kit/table.ts'
import { type Case, type CaseSample, nameOf } from './gateways.ts'

/** The figures of a case: medians over its rounds. Ratios are within a round. CPU in microseconds a request. */
export interface CaseFigures {
  readonly name: string
  readonly of: Case
  readonly requests_per_s: number
  readonly p50_ms: number
  readonly p99_ms: number
  readonly gateway_us: number
  readonly postgres_us: number | null
  readonly transactions: number
  readonly wal_bytes: number
  /** Requests a second against one gateway on SQLite, and against one on PostgreSQL. */
  readonly served_to_sqlite: number
  readonly served_to_one: number
  /** CPU of the gateways a request against one gateway on SQLite. */
  readonly cpu_to_sqlite: number
  /** How many times the requests of one gateway on PostgreSQL these would serve, were each as busy as that one on a processor of its own, and the database no limit: their number, by the CPU of a request. */
  readonly by_cpu: number
  readonly threads_us: Readonly<Record<string, number>>
}

/** Summarises the samples by case, in the order of the first round. */
export const figuresOf = (samples: readonly CaseSample[]): readonly CaseFigures[] => {
  const names = [...new Set(samples.map(({ of }) => nameOf(of)))]
  const groups = names.map((name) => samples.filter(({ of }) => nameOf(of) === name))
  return groups.flatMap((group) => {
    const of = group[0]?.of
    return of === undefined ? [] : [summary(of, group, samples)]
  })
}

const summary = (of: Case, group: readonly CaseSample[], all: readonly CaseSample[]): CaseFigures => {
  const middle = (value: (sample: CaseSample) => number): number => median(group.map(value))
  const against = (store: Case['store'], value: (own: CaseSample, other: CaseSample) => number): number =>
    median(
      group.flatMap((own) => {
        const other = all.find((sample) => sample.round === own.round && isBase(sample.of, of, store))
        return other === undefined ? [] : [value(own, other)]
      }),
    )
  const served = (own: CaseSample, other: CaseSample): number => rate(own) / rate(other)
  const postgres = group.flatMap(({ postgres_us }) => (postgres_us === null ? [] : [postgres_us]))
  const threads = new Set(group.flatMap(({ threads_us }) => Object.keys(threads_us)))
  return {
    name: nameOf(of),
    of,
    requests_per_s: middle(rate),
    p50_ms: middle(({ p50_ms }) => p50_ms),
    p99_ms: middle(({ p99_ms }) => p99_ms),
    gateway_us: middle(({ gateway_us }) => gateway_us),
    postgres_us: postgres.length === 0 || of.store === 'sqlite' ? null : median(postgres),
    transactions: of.store === 'sqlite' ? 0 : middle(({ transactions }) => transactions),
    wal_bytes: of.store === 'sqlite' ? 0 : middle(({ wal_bytes }) => wal_bytes),
    served_to_sqlite: against('sqlite', served),
    served_to_one: against('postgres', served),
    cpu_to_sqlite: against('sqlite', (own, other) => own.gateway_us / other.gateway_us),
    by_cpu: against('postgres', (own, other) => (of.gateways * other.gateway_us) / own.gateway_us),
    threads_us: Object.fromEntries(
      [...threads].map((name) => [name, middle(({ threads_us }) => threads_us[name] ?? 0)]),
    ),
  }
}

const rate = ({ requests, wall_ms }: CaseSample): number => (requests / wall_ms) * 1000

/** One gateway on `store` under the same load. */
const isBase = (one: Case, of: Case, store: Case['store']): boolean =>
  one.gateways === 1 && one.store === store && one.budget === of.budget && one.shape === of.shape

/** What one request at a time takes. */
export interface LatencyFigures {
  readonly sqlite_p50_ms: number
  readonly sqlite_p99_ms: number
  readonly postgres_p50_ms: number
  readonly postgres_p99_ms: number
  /** Medians of the differences within a round. */
  readonly added_p50_ms: number
  readonly added_p99_ms: number
}

export const latencyOf = (samples: readonly CaseSample[]): LatencyFigures => {
  const of = (store: Case['store']) => samples.filter((sample) => sample.of.store === store)
  const pairs = of('sqlite').flatMap((sqlite) =>
    of('postgres')
      .filter(({ round }) => round === sqlite.round)
      .map((postgres) => ({ sqlite, postgres })),
  )
  return {
    sqlite_p50_ms: median(of('sqlite').map(({ p50_ms }) => p50_ms)),
    sqlite_p99_ms: median(of('sqlite').map(({ p99_ms }) => p99_ms)),
    postgres_p50_ms: median(of('postgres').map(({ p50_ms }) => p50_ms)),
    postgres_p99_ms: median(of('postgres').map(({ p99_ms }) => p99_ms)),
    added_p50_ms: median(pairs.map(({ sqlite, postgres }) => postgres.p50_ms - sqlite.p50_ms)),
    added_p99_ms: median(pairs.map(({ sqlite, postgres }) => postgres.p99_ms - sqlite.p99_ms)),
  }
}
