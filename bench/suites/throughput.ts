import { Bench, type BenchOptions as BenchSettings, type Task } from 'tinybench'
import { register as decision } from '../cases/decision.ts'
import { register as detectors } from '../cases/detectors.ts'
import { register as fingerprint } from '../cases/fingerprint.ts'
import { register as headers } from '../cases/headers.ts'
import { register as mcp } from '../cases/mcp.ts'
import { register as pipeline } from '../cases/pipeline.ts'
import { register as redact } from '../cases/redact.ts'
import { register as start } from '../cases/start.ts'
import { register as storage } from '../cases/storage.ts'
import { type BenchOptions, isChosen } from '../options.ts'

const cases = [fingerprint, decision, detectors, headers, storage, pipeline, redact, mcp, start]

/** One measured operation; times in milliseconds. */
export interface Timing {
  readonly name: string
  readonly p50_ms: number
  readonly p99_ms: number
  readonly mean_ms: number
  /** Half of the 95 % confidence interval of the mean, in percent of the mean. */
  readonly margin_percent: number
  readonly samples: number
}

/** Duration and number of iterations of a case. */
export const timings = ({ smoke }: BenchOptions): BenchSettings =>
  smoke
    ? { throws: true, time: 0, iterations: 2, warmup: false }
    : { throws: true, time: 300, iterations: 20, warmupTime: 100 }

/** A bench with the selected cases, not started. */
export const throughputBench = async (options: BenchOptions): Promise<Bench> => {
  const bench = new Bench(timings(options))
  for (const register of cases) await register(bench)
  for (const { name } of [...bench.tasks]) if (!isChosen(options, name)) bench.remove(name)
  return bench
}

/** Measures the parts of the hot path one by one. */
export const runThroughput = async (options: BenchOptions): Promise<readonly Timing[]> => {
  const bench = await throughputBench(options)
  return (await bench.run()).map(timingOf)
}

/** The measurement of a case. Throws if the case failed. */
export const timingOf = ({ name, result }: Task): Timing => {
  if (result.state !== 'completed') throw new Error(`the case "${name}" ended as ${result.state}`)
  const { p50, p99, mean, rme, samplesCount } = result.latency
  return { name, p50_ms: p50, p99_ms: p99, mean_ms: mean, margin_percent: rme, samples: samplesCount }
}
