import { printTable } from '../kit/table.ts'
import type { CrowdResult } from './crowd.ts'
import type { Profile, Share } from './profile.ts'
import type { Least, Summary } from './summary.ts'

const KIB = 1024
const MIB = 1_048_576

/** CPU ratios and related figures, one line per shape. */
export const ratioTable = (summaries: readonly Summary[]): string =>
  printTable(
    ['shape', 'per', 'raw', 'gateway', 'ratio', 'min', 'max', 'must', '', 'req/s', 'loop p99', 'RSS', 'provider'],
    summaries.map((one) => [
      one.title,
      one.per,
      `${one.raw_us.toFixed(0)} µs`,
      `${one.gateway_us.toFixed(0)} µs`,
      one.ratio.median.toFixed(2),
      one.ratio.min.toFixed(2),
      one.ratio.max.toFixed(2),
      one.must === null ? '' : `≤ ${one.must.toFixed(1)}`,
      one.must === null ? '' : one.ratio.median <= one.must ? 'met' : 'over',
      one.requests_per_s.toFixed(0),
      `${one.loop_delay_ms.toFixed(1)} ms`,
      `${(one.rss_bytes / MIB).toFixed(0)} MB`,
      `${(one.provider_share * 100).toFixed(0)} %`,
    ]),
  )

/** The least CPU of this gateway and of another checkout's, in ratios to the raw pass-through and to each other. */
export const leastTable = (rows: readonly Least[]): string =>
  printTable(
    ['least CPU', 'when', 'per', 'raw', 'reference', 'gateway', 'reference/raw', 'gateway/raw', 'gateway/reference'],
    rows.map(({ title, when, per, us: { raw = Number.NaN, reference = Number.NaN, gateway = Number.NaN } }) => [
      ...[title, when, per],
      ...[raw, reference, gateway].map((us) => `${us.toFixed(per === 'chunk' ? 1 : 0)} µs`),
      ...[reference / raw, gateway / raw, gateway / reference].map((ratio) => ratio.toFixed(2)),
    ]),
  )

/** Added latency at a fixed rate. */
export const latencyLine = (one: Summary): string =>
  `${one.title}: raw p50 ${one.raw_p50_ms.toFixed(2)} ms, p99 ${one.raw_p99_ms.toFixed(2)} ms; the gateway adds ${one.added_p50_ms.toFixed(2)} ms and ${one.added_p99_ms.toFixed(2)} ms (must ≤ 0.3 and ≤ 3)`

/** Memory of many concurrent streams. The limit is 32 KB per stream. */
export const crowdTable = (results: readonly CrowdResult[]): string =>
  printTable(
    ['streams at once', 'streams', 'cut', 'RSS before', 'RSS at most', 'a stream'],
    results.map(({ sample, rss_before_bytes, rss_peak_bytes, per_stream_bytes }) => [
      sample.target,
      String(sample.requests),
      String(sample.failed),
      `${(rss_before_bytes / MIB).toFixed(0)} MB`,
      `${(rss_peak_bytes / MIB).toFixed(0)} MB`,
      `${(per_stream_bytes / KIB).toFixed(0)} KB`,
    ]),
  )

/** CPU by thread of the gateway, and the decisions. */
export const threadTable = (summaries: readonly Summary[]): string => {
  const names = [...new Set(summaries.flatMap((one) => Object.keys(one.threads_us)))]
  return printTable(
    ['shape', ...names, 'decisions'],
    summaries.map((one) => [
      one.title,
      ...names.map((name) => `${(one.threads_us[name] ?? 0).toFixed(1)} µs`),
      Object.entries(one.decisions)
        .map(([decision, count]) => `${decision} ${count}`)
        .join(', '),
    ]),
  )
}

/** The functions with the most time on the main thread of the gateway, for one shape. */
export const profileText = (title: string, { self, charged }: Profile): string =>
  [
    `${title}: own time on the gateway's main thread`,
    shareTable(self),
    '',
    `${title}: the same charged to the gateway's nearest function`,
    shareTable(charged),
  ].join('\n')

const shareTable = (shares: readonly Share[]): string =>
  printTable(
    ['function', 'share', 'at'],
    shares.map(({ name, at, percent }) => [name, `${percent.toFixed(1)} %`, at]),
  )
