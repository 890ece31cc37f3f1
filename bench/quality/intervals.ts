import { random } from '../kit/random.ts'
import { type Observation, quantile } from './observation.ts'

const RESAMPLES = 1000
const SEED = 1

/** The 2.5th and the 97.5th percentile of a rate over all resamples. */
type Interval = readonly [low: number, high: number]

/** 95 % confidence intervals over tasks of the same kind. Null if the divisor is 0. */
export interface Intervals {
  readonly tasks: number
  readonly precision: Interval | null
  readonly recall: Interval | null
  readonly clean_fp_rate: Interval | null
}

/** The outcomes of all runs of a task. */
interface Counts {
  tp: number
  alarms: number
  loops: number
  fp: number
  cleans: number
}

/**
 * Bootstrap over tasks with a thousand resamples. Runs of one task are alike, so resampling single runs would give
 * too narrow intervals.
 */
export const intervalsOf = (members: readonly Observation[]): Intervals => {
  const tasks = [...Map.groupBy(members, ({ task, case_id }) => task ?? case_id).values()].map(countsOf)
  const next = random(SEED)
  const drawn = Array.from({ length: RESAMPLES }, () => {
    const sum = nothing()
    for (let draw = 0; draw < tasks.length; draw++) add(sum, tasks[Math.floor(next() * tasks.length)])
    return sum
  })
  return {
    tasks: tasks.length,
    precision: interval(drawn.map(({ tp, alarms }) => tp / alarms)),
    recall: interval(drawn.map(({ tp, loops }) => tp / loops)),
    clean_fp_rate: interval(drawn.map(({ fp, cleans }) => fp / cleans)),
  }
}

const nothing = (): Counts => ({ tp: 0, alarms: 0, loops: 0, fp: 0, cleans: 0 })

const add = (sum: Counts, one: Counts | undefined): void => {
  if (one === undefined) return
  sum.tp += one.tp
  sum.alarms += one.alarms
  sum.loops += one.loops
  sum.fp += one.fp
  sum.cleans += one.cleans
}

const countsOf = (members: readonly Observation[]): Counts => {
  const sum = nothing()
  for (const { outcome } of members) add(sum, meaning[outcome])
  return sum
}

const meaning: Readonly<Partial<Record<Observation['outcome'], Counts>>> = {
  tp: { tp: 1, alarms: 1, loops: 1, fp: 0, cleans: 0 },
  early: { tp: 0, alarms: 1, loops: 1, fp: 0, cleans: 0 },
  fn: { tp: 0, alarms: 0, loops: 1, fp: 0, cleans: 0 },
  fp: { tp: 0, alarms: 1, loops: 0, fp: 1, cleans: 1 },
  tn: { tp: 0, alarms: 0, loops: 0, fp: 0, cleans: 1 },
}

const interval = (rates: readonly number[]): Interval | null => {
  const known = rates.filter((rate) => !Number.isNaN(rate))
  return known.length === 0 ? null : [quantile(known, 0.025), quantile(known, 0.975)]
}
