import { type BenchOptions, isChosen } from '../options.ts'
import { type ExactResult, measureExact } from '../scale/exact.ts'
import { type ScaleSetup, startScaleSetup } from '../scale/fleets.ts'
import {
  type CaseSample,
  Fleets,
  type GatewaysPlan,
  measureGateways,
  measureLatency,
  nameOf,
} from '../scale/gateways.ts'
import { Postgres } from '../scale/postgres.ts'
import { COUNTING, measureProfiles, type ScaleProfile, type StatementFigures } from '../scale/profiles.ts'
import { measureReads, type ReadFigures } from '../scale/reads.ts'
import { type CaseFigures, figuresOf, type LatencyFigures, latencyOf } from '../scale/summary.ts'

const MISSING =
  'no PostgreSQL here: initdb and postgres are neither in PATH nor in /usr/lib/postgresql/*/bin; install them, or name a server in GUARD_TEST_POSTGRES_URL'

/** The result of the scale suite. */
export interface ScaleResult {
  /** Why nothing was measured; null if it was. */
  readonly left_out: string | null
  /** Version and durability of the server. */
  readonly server: string
  readonly gateways: readonly CaseFigures[]
  readonly latency: LatencyFigures | null
  readonly exact: ExactResult | null
  /** Runs of the store that `reads` were measured on. */
  readonly runs: number
  readonly reads: readonly ReadFigures[]
  readonly profiles: readonly ScaleProfile[]
  readonly statements: readonly StatementFigures[]
  readonly failures: readonly string[]
}

type Found = { -readonly [K in keyof ScaleResult]: ScaleResult[K] extends readonly (infer T)[] ? T[] : ScaleResult[K] }

const GATEWAYS = 'scale_gateways'
const BUDGET = 'scale_budget'
const GROWING = 'scale_growing'
const LATENCY = 'scale_latency'
const EXACT = 'scale_exact'
const READS = 'scale_reads'

/** Names of all measurements. */
export const scaleNames = (): readonly string[] => [GATEWAYS, BUDGET, GROWING, LATENCY, EXACT, READS]

/** How much the suite measures. */
interface Plan extends GatewaysPlan {
  readonly one_at_a_time: number
  readonly exact: { readonly agents: number; readonly requests: number }
  readonly runs: number
}

const AGENTS = 64

const planOf = (options: BenchOptions): Plan => {
  const { smoke, full, rounds } = options
  const loads = [
    { name: GATEWAYS, shape: 'chat_1k', budget: false },
    { name: BUDGET, shape: 'chat_1k', budget: true },
    { name: GROWING, shape: 'growing_64k', budget: false },
  ]
    .filter(({ name }) => isChosen(options, name))
    .map(({ shape, budget }) => ({ shape, budget }))
  if (smoke) {
    const few = { agents: 8, requests: 24 }
    const small = { ...few, loads: loads.slice(0, 2), sizes: [1, 2], rounds: 1, warm_up: 0 }
    return { ...small, one_at_a_time: 8, exact: { ...few, requests: 256 }, runs: 400 }
  }
  return {
    ...{ rounds, loads, sizes: [1, 2, 3], agents: AGENTS },
    requests: full ? 8_000 : 3_000,
    warm_up: full ? 32_000 : 8_000,
    one_at_a_time: 1_000,
    exact: { agents: AGENTS, requests: full ? 20_000 : 3_000 },
    runs: full ? 100_000 : 5_000,
  }
}

/** Measures gateways that share a PostgreSQL beside one on SQLite: load, latency, exactness and reads. Throws a TypeError if the suite was asked for by name and there is no server. */
export const runScale = async (options: BenchOptions, log: (line: string) => void): Promise<ScaleResult> => {
  const found: Found = {
    ...{ left_out: null, server: '', gateways: [], latency: null, exact: null, runs: 0, reads: [] },
    ...{ profiles: [], statements: [], failures: [] },
  }
  if (!Postgres.isThere) {
    if (options.suites.length === 1) throw new TypeError(MISSING)
    log(`scale is left out: ${MISSING}`)
    return { ...found, left_out: `left out, since there is ${MISSING}` }
  }
  const plan = planOf(options)
  const setup = await startScaleSetup(options.profile === undefined ? [] : COUNTING)
  try {
    found.server = await setup.server.about()
    await fromFleets(found, setup, plan, options, log)
    if (!isChosen(options, READS)) return found
    log(READS)
    found.runs = plan.runs
    found.reads = [...(await measureReads(setup.server, plan.runs, options.smoke, log))]
    return found
  } finally {
    await setup.close()
  }
}

const fromFleets = async (
  found: Found,
  setup: ScaleSetup,
  plan: Plan,
  options: BenchOptions,
  log: (line: string) => void,
): Promise<void> => {
  const [latency, exact] = [isChosen(options, LATENCY), isChosen(options, EXACT)]
  if (plan.loads.length === 0 && !latency && !exact) return
  const most = Math.max(...plan.sizes)
  const sizes = plan.sizes.filter(
    (size) => plan.loads.length > 0 || (size === 1 && latency) || (size === most && exact),
  )
  const fleets = await Fleets.start(setup, sizes)
  if (plan.loads.length > 0) {
    log(GATEWAYS)
    const samples = await measureGateways(setup, fleets, plan, log)
    found.gateways = [...figuresOf(samples)]
    found.failures.push(...failuresOf(samples))
  }
  if (options.profile !== undefined && plan.loads.length > 0) {
    log('profiles')
    const { profiles, statements } = await measureProfiles(setup, fleets, {
      folder: options.profile,
      requests: plan.requests,
      agents: plan.agents,
    })
    found.profiles = [...profiles]
    found.statements = [...statements]
  }
  if (latency) {
    log(LATENCY)
    const samples = await measureLatency(setup, fleets, plan, plan.one_at_a_time)
    found.latency = latencyOf(samples)
    found.failures.push(...failuresOf(samples))
  }
  if (exact) {
    log(EXACT)
    const several = fleets.of({ store: 'postgres', gateways: most })
    found.exact = await measureExact(several, fleets.of({ store: 'sqlite', gateways: 1 }), plan.exact)
    found.failures.push(...found.exact.failures.map((failure) => `${EXACT}: ${failure}`))
  }
}

const failuresOf = (samples: readonly CaseSample[]): readonly string[] =>
  samples
    .filter(({ failed }) => failed > 0)
    .map(({ of, failed, errors }) => `${nameOf(of)}: ${failed} requests failed: ${errors.join('; ')}`)
