import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type CrowdResult, crowdRun } from '../load/crowd.ts'
import type { Profile } from '../load/profile.ts'
import { recordedIn } from '../load/record.ts'
import { Rounds, type Sample } from '../load/rounds.ts'
import { crowd, type Shape, shapes, steady } from '../load/shapes.ts'
import { type Least, leastOf, type Summary, summaryOf } from '../load/summary.ts'
import { type LoadSetup, startLoadSetup, type Target } from '../load/targets.ts'
import { type BenchOptions, isChosen } from '../options.ts'
import { type GatewayProgram, gatewayOf } from '../programs.ts'

const STEADY_RATE = 200
const PROFILE_TOP = 30
/** Warm-up requests, or chunks of streams, until the code is compiled. A gateway has more code than a pass-through, and runs for days. */
const WARM_UP = 32_000
/** Enough rounds for the samples of a profile. */
const PROFILE_ROUNDS = 3

export interface Profiled {
  readonly shape: string
  readonly title: string
  readonly profile: Profile
}

/** The result of a load run. */
export interface LoadResult {
  readonly shapes: readonly Summary[]
  /** The least CPU beside another checkout, of the first round and warm. Empty without one. */
  readonly least: readonly Least[]
  readonly steady: Summary | null
  /** Results of the baseline and of the gateway. Empty if not selected. */
  readonly crowd: readonly CrowdResult[]
  readonly profiles: readonly Profiled[]
  /** Requests in the database, and requests sent to the gateway. */
  readonly recorded: number
  readonly sent: number
  /** Reasons to distrust the run. Empty for a valid run. */
  readonly failures: readonly string[]
}

/** Names of all measurements. */
export const loadNames = (): readonly string[] => [...shapes(), steady, crowd].map(({ id }) => id)

/**
 * Measures the gateway, a raw pass-through and the gateway of another checkout, if one is named. Every shape gets new processes and an empty database. In a smoke run
 * all shapes share them.
 */
export const runLoad = async (options: BenchOptions, log: (line: string) => void): Promise<LoadResult> => {
  const other = options.against === undefined ? undefined : await gatewayOf(options.against)
  const found: Found = {
    ...{ shapes: [], least: [], steady: null, crowd: [], profiles: [], recorded: 0, sent: 0, failures: [] },
  }
  const chosen = [...shapes(), steady, crowd].filter(({ id }) => isChosen(options, id))
  const groups = options.smoke ? [chosen.map(small)] : chosen.map((shape) => [shape])
  for (const group of groups.filter(({ length }) => length > 0)) {
    await withLoadSetup(found, group.map(({ id }) => id).join(', '), other, async (rounds, setup) => {
      for (const shape of group) {
        log(`${shape.id}: ${shape.title}`)
        await measure(found, rounds, setup, shape, options)
      }
    })
  }
  return found
}

type Found = { -readonly [K in keyof LoadResult]: LoadResult[K] extends readonly (infer T)[] ? T[] : LoadResult[K] }

const measure = async (
  found: Found,
  rounds: Rounds,
  setup: LoadSetup,
  shape: Shape,
  options: BenchOptions,
): Promise<void> => {
  if (shape.id === crowd.id) {
    found.crowd.push(...(await crowds(rounds, setup, shape)))
    for (const { sample } of found.crowd)
      if (sample.failed > 0)
        found.failures.push(`${shape.id}: ${sample.failed} streams failed: ${sample.errors.join('; ')}`)
    return
  }
  const isSteady = shape.id === steady.id
  const { first, warm } = await roundsOf(rounds, shape, options, isSteady ? STEADY_RATE : undefined)
  const summary = summaryOf(shape, warm)
  if (isSteady) found.steady = summary
  else {
    found.shapes.push(summary)
    found.least.push(...leastOf(shape, first, warm.flat()))
  }
  if (summary.failed > 0)
    found.failures.push(`${shape.id}: ${summary.failed} requests failed: ${summary.errors.join('; ')}`)
  if (options.profile !== undefined && !isSteady)
    found.profiles.push(await profiled(rounds, shape, ownTarget(setup), options.profile))
}

/** Starts the processes for some work, stops them, and compares the sent requests with the database of the gateway. */
const withLoadSetup = async (
  found: Found,
  name: string,
  other: GatewayProgram | undefined,
  work: (rounds: Rounds, setup: LoadSetup) => Promise<void>,
): Promise<void> => {
  const setup = await startLoadSetup(other)
  try {
    const rounds = new Rounds(setup)
    await work(rounds, setup)
    await setup.stop()
    const { requests, other } = recordedIn(setup.database)
    found.sent += rounds.sent
    found.recorded += requests
    if (requests !== rounds.sent)
      found.failures.push(`${name}: ${rounds.sent} requests were sent, ${requests} are on record`)
    for (const [outcome, count] of Object.entries(other))
      found.failures.push(`${name}: ${count} requests are on record with the outcome ${outcome}`)
  } finally {
    await setup.stop()
    await setup.remove()
  }
}

/** Warms up with a few streams, then opens all streams at once, on the baseline and on the gateway. */
const crowds = async (rounds: Rounds, { targets }: LoadSetup, shape: Shape): Promise<readonly CrowdResult[]> => {
  const results: CrowdResult[] = []
  for (const target of targets) {
    await rounds.sample(small(shape), target)
    results.push(await crowdRun(rounds, shape, target))
  }
  return results
}

/** Runs the warm-up rounds, of which the first is kept, then the measured ones. */
const roundsOf = async (
  rounds: Rounds,
  shape: Shape,
  { smoke, rounds: count }: BenchOptions,
  rate?: number,
): Promise<{ readonly first: readonly Sample[]; readonly warm: readonly (readonly Sample[])[] }> => {
  const options = rate === undefined ? {} : { rate }
  const first = await rounds.round(shape, 0, smoke ? options : {})
  if (smoke) return { first, warm: [first] }
  const perRound = shape.requests * (shape.reply.stream?.chunks ?? 1)
  for (let sent = perRound; sent < WARM_UP; sent += perRound) await rounds.round(shape, 0)
  await rounds.begin()
  const warm: (readonly Sample[])[] = []
  for (let turn = 0; turn < count; turn++) warm.push(await rounds.round(shape, turn, options))
  return { first, warm }
}

const profiled = async (rounds: Rounds, shape: Shape, target: Target, folder: string): Promise<Profiled> => {
  mkdirSync(folder, { recursive: true })
  await target.child.request('profile_start', null)
  for (let turn = 0; turn < PROFILE_ROUNDS; turn++) await rounds.sample(shape, target)
  const file = resolve(join(folder, `${shape.id}.cpuprofile`))
  const profile = await target.child.request('profile_stop', { file, top: PROFILE_TOP })
  return { shape: shape.id, title: shape.title, profile }
}

const ownTarget = ({ targets }: LoadSetup): Target => {
  const target = targets.find(({ name }) => name === 'gateway')
  if (target === undefined) throw new Error('no gateway was started')
  return target
}

/** A shape with the minimum of requests for a smoke run. */
const small = (shape: Shape): Shape => {
  const { reply } = shape
  const connections = Math.min(4, shape.connections)
  const requests = Math.min(20, shape.requests)
  if (reply.stream === undefined) return { ...shape, connections, requests }
  return { ...shape, connections: 20, requests: 20, reply: { ...reply, stream: { chunks: 20, interval_ms: 10 } } }
}
