import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type CrowdResult, crowdRun } from '../load/crowd.ts'
import type { SelfTime } from '../load/profile.ts'
import { type Recorded, recordedIn } from '../load/record.ts'
import { Rounds, type Sample } from '../load/rounds.ts'
import { crowd, type Shape, shapes, steady } from '../load/shapes.ts'
import { type Summary, summaryOf } from '../load/summary.ts'
import { type Stage, setStage, type Target } from '../load/targets.ts'
import { type BenchOptions, isChosen } from '../options.ts'

const STEADY_RATE = 200
const PROFILE_TOP = 30
/** Enough rounds that a profile has samples. */
const PROFILE_ROUNDS = 3

export interface Profiled {
  readonly shape: string
  readonly title: string
  readonly times: readonly SelfTime[]
}

/** What a load run found. */
export interface LoadResult {
  readonly shapes: readonly Summary[]
  readonly steady: Summary | null
  /** The reference and the gateway; none if it was not asked for. */
  readonly crowd: readonly CrowdResult[]
  readonly profiles: readonly Profiled[]
  readonly recorded: Recorded
  /** Requests sent to the gateway: what must be on record. */
  readonly sent: number
  /** What must not have happened; none if the run can be trusted. */
  readonly failures: readonly string[]
}

/** Names of what the suite measures. */
export const loadNames = (): readonly string[] => [...shapes(), steady, crowd].map(({ id }) => id)

/** Runs the gateway beside a raw pass-through under every chosen shape. */
export const runLoad = async (options: BenchOptions, say: (line: string) => void): Promise<LoadResult> => {
  const stage = await setStage()
  try {
    const rounds = new Rounds(stage)
    const found = await measured(stage, rounds, options, say)
    await stage.stop()
    const recorded = recordedIn(stage.database)
    return { ...found, recorded, sent: rounds.sent, failures: failuresOf(found, recorded, rounds.sent) }
  } finally {
    await stage.stop()
    await stage.remove()
  }
}

type Found = Omit<LoadResult, 'recorded' | 'sent' | 'failures'>

const measured = async (
  stage: Stage,
  rounds: Rounds,
  options: BenchOptions,
  say: (line: string) => void,
): Promise<Found> => {
  const fit = (shape: Shape): Shape => (options.smoke ? small(shape) : shape)
  const chosen = (shape: Shape): boolean => isChosen(options, shape.id)
  const announced = (shape: Shape): Shape => {
    say(`${shape.id}: ${shape.title}`)
    return fit(shape)
  }
  // memory first, while no other shape has made the heap grow
  const streams = chosen(crowd) ? await crowds(rounds, stage, announced(crowd)) : []
  const summaries: Summary[] = []
  const profiles: Profiled[] = []
  for (const shape of shapes().filter(chosen).map(announced)) {
    summaries.push(summaryOf(shape, await roundsOf(rounds, shape, options)))
    if (options.profile !== undefined) profiles.push(await profiled(rounds, shape, gatewayOf(stage), options.profile))
  }
  const latency = chosen(steady) ? await roundsOf(rounds, announced(steady), options, STEADY_RATE) : undefined
  return {
    shapes: summaries,
    steady: latency === undefined ? null : summaryOf(steady, latency),
    crowd: streams,
    profiles,
  }
}

/** A few streams to warm up, then all of them at once, on the reference and on the gateway. */
const crowds = async (rounds: Rounds, { targets }: Stage, shape: Shape): Promise<readonly CrowdResult[]> => {
  const results: CrowdResult[] = []
  for (const target of targets) {
    await rounds.sample(small(shape), target)
    results.push(await crowdRun(rounds, shape, target))
  }
  return results
}

/** One round to warm up, then those that count. */
const roundsOf = async (
  rounds: Rounds,
  shape: Shape,
  { smoke, rounds: count }: BenchOptions,
  rate?: number,
): Promise<readonly (readonly Sample[])[]> => {
  const options = rate === undefined ? {} : { rate }
  if (smoke) return [await rounds.round(shape, 0, options)]
  await rounds.round(shape, 0, options)
  const samples: (readonly Sample[])[] = []
  for (let turn = 0; turn < count; turn++) samples.push(await rounds.round(shape, turn, options))
  return samples
}

const profiled = async (rounds: Rounds, shape: Shape, target: Target, folder: string): Promise<Profiled> => {
  mkdirSync(folder, { recursive: true })
  await target.child.ask('profile_start', null)
  for (let turn = 0; turn < PROFILE_ROUNDS; turn++) await rounds.sample(shape, target)
  const file = resolve(join(folder, `${shape.id}.cpuprofile`))
  const times = await target.child.ask('profile_stop', { file, top: PROFILE_TOP })
  return { shape: shape.id, title: shape.title, times }
}

const gatewayOf = ({ targets }: Stage): Target => {
  const target = targets.find(({ name }) => name === 'gateway')
  if (target === undefined) throw new Error('no gateway was started')
  return target
}

/** A shape with as few requests as show that it works. */
const small = (shape: Shape): Shape => {
  const { reply } = shape
  const connections = Math.min(4, shape.connections)
  const requests = Math.min(20, shape.requests)
  if (reply.stream === undefined) return { ...shape, connections, requests }
  return { ...shape, connections: 20, requests: 20, reply: { ...reply, stream: { chunks: 20, interval_ms: 10 } } }
}

const failuresOf = (
  { shapes: summaries, steady: latency, crowd: streams }: Found,
  recorded: Recorded,
  sent: number,
) => {
  const all = [...summaries, ...(latency === null ? [] : [latency])]
  const failures = all
    .filter(({ failed }) => failed > 0)
    .map(({ shape, failed, errors }) => `${shape}: ${failed} requests failed: ${errors.join('; ')}`)
  for (const { sample } of streams)
    if (sample.failed > 0) failures.push(`${crowd.id}: ${sample.failed} streams failed: ${sample.errors.join('; ')}`)
  if (recorded.requests !== sent) failures.push(`${sent} requests were sent, ${recorded.requests} are on record`)
  for (const [outcome, count] of Object.entries(recorded.other))
    failures.push(`${count} requests are on record with the outcome ${outcome}`)
  return failures
}
