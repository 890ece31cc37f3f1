import { median } from '../kit/table.ts'
import type { Sample } from './rounds.ts'
import type { Shape } from './shapes.ts'
import type { Target } from './targets.ts'

/** The summary of all rounds of one shape. */
export interface Summary {
  readonly shape: string
  readonly title: string
  readonly per: 'request' | 'chunk'
  readonly must: number | null
  /** CPU of the gateway divided by CPU of the raw pass-through, per round. */
  readonly ratio: Spread
  /** Medians of CPU per request or chunk, in microseconds. */
  readonly raw_us: number
  readonly gateway_us: number
  readonly requests_per_s: number
  /** Medians of the percentiles of all rounds, in milliseconds. */
  readonly raw_p50_ms: number
  readonly raw_p99_ms: number
  readonly added_p50_ms: number
  readonly added_p99_ms: number
  /** Maximum of all rounds. */
  readonly rss_bytes: number
  /** 99th percentile over all rounds. */
  readonly loop_delay_ms: number
  /** CPU of the provider divided by wall time. A value near 1 makes the provider the bottleneck. */
  readonly provider_share: number
  readonly decisions: Readonly<Record<string, number>>
  /** Medians of CPU per request or chunk by thread name, in microseconds. */
  readonly threads_us: Readonly<Record<string, number>>
  readonly failed: number
  readonly errors: readonly string[]
}

export interface Spread {
  readonly min: number
  readonly median: number
  readonly max: number
}

/** The least CPU of each target in one part of its rounds, which other work on the machine disturbed least. */
export interface Least {
  readonly shape: string
  readonly title: string
  readonly per: Summary['per']
  /** The first round is that of new processes. */
  readonly when: 'first round' | 'warm'
  /** CPU per request or chunk, in microseconds. */
  readonly us: Readonly<Partial<Record<Target['name'], number>>>
}

/** What new and warm processes need at least. Empty unless another checkout was measured. */
export const leastOf = (shape: Shape, first: readonly Sample[], warm: readonly Sample[]): readonly Least[] =>
  [['first round', first] as const, ['warm', warm] as const].flatMap(([when, samples]) => {
    const us: Least['us'] = Object.fromEntries(
      [...new Set(samples.map(({ target }) => target))].map((name) => [
        name,
        Math.min(...samples.filter(({ target }) => target === name).map(cost)),
      ]),
    )
    return us.reference === undefined ? [] : [{ shape: shape.id, title: shape.title, per: perOf(shape), when, us }]
  })

const perOf = ({ reply }: Shape): Summary['per'] => (reply.stream === undefined ? 'request' : 'chunk')

/** Summarises the rounds of a shape. */
export const summaryOf = (shape: Shape, rounds: readonly (readonly Sample[])[]): Summary => {
  const of = (target: Sample['target']): Sample[] => rounds.flat().filter((sample) => sample.target === target)
  const [raw, gateway] = [of('raw'), of('gateway')]
  const middle = (samples: readonly Sample[], value: (sample: Sample) => number) => median(samples.map(value))
  const all = rounds.flat()
  return {
    shape: shape.id,
    title: shape.title,
    per: perOf(shape),
    must: shape.must ?? null,
    ratio: spread(rounds.map(ratioOf)),
    raw_us: middle(raw, cost),
    gateway_us: middle(gateway, cost),
    requests_per_s: middle(gateway, (sample) => (sample.requests / sample.wall_ms) * 1000),
    raw_p50_ms: middle(raw, (sample) => sample.p50_ms),
    raw_p99_ms: middle(raw, (sample) => sample.p99_ms),
    added_p50_ms: middle(gateway, (sample) => sample.p50_ms) - middle(raw, (sample) => sample.p50_ms),
    added_p99_ms: middle(gateway, (sample) => sample.p99_ms) - middle(raw, (sample) => sample.p99_ms),
    rss_bytes: Math.max(...gateway.map((sample) => sample.rss_bytes)),
    loop_delay_ms: gateway.at(-1)?.loop_delay_ms ?? 0,
    provider_share: Math.max(...all.map((sample) => sample.provider_cpu_us / 1000 / sample.wall_ms)),
    decisions: added(gateway.map((sample) => sample.decisions)),
    threads_us: threadsOf(gateway),
    failed: all.reduce((sum, sample) => sum + sample.failed, 0),
    errors: [...new Set(all.flatMap((sample) => sample.errors.map((error) => `${sample.target}: ${error}`)))],
  }
}

/** Microseconds of CPU per request, or per chunk of a stream. */
const cost = ({ cpu_us, requests, chunks }: Sample): number => cpu_us / (chunks || requests)

/** The CPU ratio of a round. Both targets received the same requests. */
const ratioOf = (round: readonly Sample[]): number => {
  const spent = (target: Sample['target']): number =>
    round.reduce((sum, sample) => (sample.target === target ? sum + sample.cpu_us : sum), 0)
  return spent('gateway') / spent('raw')
}

const spread = (values: readonly number[]): Spread => ({
  min: Math.min(...values),
  median: median(values),
  max: Math.max(...values),
})

const added = (counts: readonly Readonly<Record<string, number>>[]): Record<string, number> => {
  const sum: Record<string, number> = {}
  for (const [name, count] of counts.flatMap((one) => Object.entries(one))) sum[name] = (sum[name] ?? 0) + count
  return sum
}

const threadsOf = (samples: readonly Sample[]): Record<string, number> => {
  const names = new Set(samples.flatMap((sample) => Object.keys(sample.threads_us)))
  const us = (sample: Sample, name: string) => (sample.threads_us[name] ?? 0) / (sample.chunks || sample.requests)
  return Object.fromEntries([...names].map((name) => [name, median(samples.map((sample) => us(sample, name)))]))
}
