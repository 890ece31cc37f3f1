import { Bench } from 'tinybench'
import { type BenchOptions, isChosen } from '../options.ts'
import { runsDatabase } from '../replay/database.ts'
import { exchange } from '../replay/exchange.ts'
import { exchangeMemory } from '../replay/exchange-memory.ts'
import type { Figure } from '../replay/figures.ts'
import { importDelay } from '../replay/import-delay.ts'
import { ingestBesideTraffic } from '../replay/ingest.ts'
import { loopDelay } from '../replay/loop-delay.ts'
import { register } from '../replay/reads.ts'
import { openRoutes } from '../replay/routes.ts'
import { sdkCost } from '../replay/sdk-cost.ts'
import { type Timing, timingOf, timings } from './throughput.ts'

const RUNS = 100_000
const SMOKE_RUNS = 1_000

/** The result of the replay suite. */
export interface ReplayResult {
  readonly runs: number
  readonly timings: readonly Timing[]
  readonly figures: readonly Figure[]
}

/** Measurements other than the response times of a full store, by name. */
const parts: Readonly<Record<string, (smoke: boolean, rounds: number) => Promise<readonly Figure[]>>> = {
  sdk: (smoke) => sdkCost(smoke ? 1_000 : 100_000),
  exchange: async (smoke) => [
    ...(await exchange(smoke ? 300 : 30_000)),
    ...(await exchangeMemory(smoke ? 300 : 3_000)),
    ...(smoke ? [] : await exchangeMemory(30_000)),
  ],
  import: (smoke) => importDelay(smoke ? 1_000_000 : 64_000_000),
  ingest: (smoke, rounds) => ingestBesideTraffic(smoke ? 1 : rounds, smoke ? 40 : 2_000),
}

/** Names of all measurements. */
export const replayNames = (): readonly string[] => ['reads', 'loop', ...Object.keys(parts)]

/** Measures the trace store: responses from 100,000 runs, event-loop delay, the SDK, exchange and ingest. */
export const runReplay = async (options: BenchOptions, log: (line: string) => void): Promise<ReplayResult> => {
  const runs = options.smoke ? SMOKE_RUNS : RUNS
  const { timings: timed, figures } = isChosen(options, 'reads', 'loop')
    ? await fromStore(options, await runsDatabase(runs, log), log)
    : { timings: [], figures: [] }
  const more: Figure[] = []
  for (const [name, part] of Object.entries(parts)) {
    if (!isChosen(options, name)) continue
    log(name)
    more.push(...(await part(options.smoke, options.rounds)))
  }
  return { runs, timings: timed, figures: [...figures, ...more] }
}

const fromStore = async (
  options: BenchOptions,
  file: string,
  log: (line: string) => void,
): Promise<Pick<ReplayResult, 'timings' | 'figures'>> => {
  const routes = await openRoutes(file)
  try {
    const bench = new Bench(timings(options))
    if (isChosen(options, 'reads')) {
      log('reads')
      await register(bench, routes)
    }
    const timed = (await bench.run()).map(timingOf)
    if (!isChosen(options, 'loop')) return { timings: timed, figures: [] }
    log('loop')
    return { timings: timed, figures: await loopDelay(routes, options.smoke ? 50 : 3_000) }
  } finally {
    await routes.close()
  }
}
