import type { Case } from '../quality/case.ts'
import { caseOf } from '../quality/case-requests.ts'
import type { Step, Trajectory } from '../quality/trajectory.ts'
import { type Author, author } from './author.ts'
import { clientLoops } from './client-loops.ts'
import { type Loop, lookAlikes, plainLoops } from './loops.ts'
import { requestCases } from './requests.ts'
import { ordinaryWork } from './work/index.ts'
import type { WorkKinds } from './work/work.ts'

const LOOP_STEPS = 16
const CLEAN_STEPS = 24
const allStarts: readonly number[] = [0, 5, 14]
/** Enough to run every kind. */
const smokeStarts: readonly number[] = [5]
const noises = [0, 0.25]
const periods: Readonly<Record<string, readonly number[]>> = { ping_pong: [2, 3, 5] }

const loops: Readonly<Record<string, (author: Author, period: number) => Loop>> = { ...plainLoops, ...clientLoops }
const work: WorkKinds = { ...lookAlikes, ...ordinaryWork }

/** Names of all kinds of runs. */
export const syntheticKinds = (): readonly string[] => [
  ...Object.keys(loops),
  ...Object.keys(work),
  ...new Set(requestCases(0, 0).flatMap(({ kind }) => kind ?? [])),
]

interface Knobs {
  readonly kind: string
  readonly period: number
  /** Share of unrelated work within the loop. */
  readonly noise: number
  /** Turns of work before the loop. */
  readonly start: number
  readonly seed: number
}

/**
 * Seeded runs: every kind of loop by period, noise and start, and as many runs without a loop. The first repeated
 * request is known exactly.
 */
export const syntheticCases = (seed: number, rounds: number): readonly Case[] =>
  Array.from({ length: rounds }, (_, round) => roundOf(seed * 1000 + round * 100, allStarts)).flat()

/** Every kind with one start. */
export const smokeCases = (seed: number): readonly Case[] => roundOf(seed * 1000, smokeStarts)

const roundOf = (seed: number, starts: readonly number[]): Case[] => {
  const looping = Object.keys(loops).flatMap((kind) =>
    (periods[kind] ?? [1]).flatMap((period) =>
      noises.flatMap((noise) => starts.map((start) => looped({ kind, period, noise, start, seed: seed + start }))),
    ),
  )
  const clean = Object.keys(work).flatMap((kind) =>
    starts.map((start) => lookAlike({ kind, period: 1, noise: 0, start, seed: seed + 50 + start })),
  )
  const requests = starts.flatMap((start) => requestCases(seed + start, start))
  return [...looping, ...clean, ...requests]
}

const looped = (knobs: Knobs): Case => {
  const writer = author(knobs.seed)
  const loop: Loop = loops[knobs.kind]?.(writer, knobs.period) ?? { step: () => writer.work(), repeats: 0 }
  const other = loop.work ?? writer.work
  const noise = loop.unbroken === true ? 0 : knobs.noise
  const steps: Step[] = Array.from({ length: knobs.start }, () => other())
  let first = 0
  for (let index = 0; index < (loop.steps ?? LOOP_STEPS); index++) {
    if (index > 0 && writer.next() < noise) steps.push(other())
    if (index === loop.repeats) first = steps.length
    steps.push(loop.step(index))
  }
  return caseOf('synthetic', trajectory(knobs, steps, first + 2))
}

const lookAlike = (knobs: Knobs): Case => {
  const writer = author(knobs.seed)
  const step = work[knobs.kind]?.(writer) ?? (() => writer.work())
  const steps = Array.from({ length: knobs.start }, () => writer.work())
  for (let index = 0; index < CLEAN_STEPS; index++) steps.push(step(index))
  return caseOf('synthetic', trajectory(knobs, steps, null))
}

const trajectory = (
  { kind, period, noise, start, seed }: Knobs,
  steps: readonly Step[],
  loop_start_step: number | null,
): Trajectory => ({
  schema: 'bench.trajectory.v1',
  id: `${kind}/period=${period}/noise=${noise}/start=${start}/seed=${seed}`,
  source: 'turns',
  task: kind,
  model: 'synthetic',
  split: null,
  kind,
  resolved: null,
  label: loop_start_step === null ? 'clean' : 'loop',
  loop_start_step,
  system_chars: 4000,
  task_chars: 1000,
  steps,
})
