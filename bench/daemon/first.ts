import { shapes } from '../load/shapes.ts'
import { quantile } from '../quality/observation.ts'
import { type DaemonFigure, figureOf, type Unit, type Values } from './figures.ts'
import type { Fleet } from './fleet.ts'
import type { DaemonPlan } from './plan.ts'

/** Milliseconds until the last byte of each reply, by target. */
export type Latencies = Readonly<Record<string, readonly number[]>>

/** Sends the first requests of new targets at the pace of one agent in a growing session, to each target in turns. */
export const firstRequests = async (fleet: Fleet, { requests, pause_ms }: DaemonPlan['first']): Promise<Latencies> => {
  const shape = shapes().find(({ id }) => id === 'growing_64k')
  if (shape === undefined) throw new Error('there is no shape "growing_64k"')
  const { generator, failures } = fleet.setup
  const targets = ['provider' as const, ...fleet.daemons]
  const sets: number[] = []
  for (const target of targets) sets.push(await fleet.open(target, shape, 1))
  const { latencies_ms, failed, errors } = await generator.request('pace', { sets, requests, pause_ms })
  for (const set of sets) await generator.request('close', { set })
  for (const daemon of fleet.daemons) fleet.count(daemon, requests)
  if (failed > 0) failures.push(`first requests: ${failed} failed: ${errors.join('; ')}`)
  const names = targets.map((target) => (target === 'provider' ? target : target.program.name))
  return Object.fromEntries(names.map((name, at) => [name, latencies_ms[at] ?? []]))
}

const shares = [
  { id: 'p50', share: 0.5, must: 0.6 },
  { id: 'p95', share: 0.95, must: undefined },
  { id: 'p99', share: 0.99, must: 3 },
]

/** Percentiles of each target, and what each adds to the raw pass-through in the same round. */
export const firstFigures = (rounds: readonly Latencies[], requests: number): readonly DaemonFigure[] =>
  shares.flatMap(({ id, share, must }) => {
    const values = rounds.map((round): Values => mapped(round, (latencies) => quantile(latencies, share)))
    const added = values.map(({ provider: _, raw = Number.NaN, ...others }) => mapped(others, (ms) => ms - raw))
    const limit = must === undefined ? {} : { must: { value: { package: must, sources: must } } }
    const title = `first ${requests} requests, ${id}`
    const unit: Unit = 'ms'
    return [
      figureOf(`first_${requests}_${id}`, title, unit, values),
      figureOf(`first_${requests}_${id}_added`, `${title}, added`, unit, added, { ...limit, base: null }),
    ]
  })

const mapped = <T>(of: Readonly<Record<string, T>>, value: (one: T) => number): Record<string, number> =>
  Object.fromEntries(Object.entries(of).map(([name, one]) => [name, value(one)]))
