import { type BenchOptions, isChosen } from '../options.ts'
import type { Case } from '../quality/case.ts'
import type { Observation, RunFacts } from '../quality/observation.ts'
import type { Subjects } from '../quality/subjects.ts'
import { smokeCases, syntheticCases } from '../synthetic/cases.ts'
import { observeAll } from './corpus.ts'

const ROUNDS = 3

/** Plays synthetic runs, which have exact labels, for every subject. */
export const runSynthetic = (
  subjects: Subjects,
  facts: RunFacts,
  options: BenchOptions,
): Promise<readonly Observation[]> => observeAll(chosenSynthetic(options), subjects, facts)

/** The synthetic runs that match a filter. All runs without a filter. */
export const chosenSynthetic = (options: BenchOptions): readonly Case[] =>
  (options.smoke ? smokeCases(options.seed) : syntheticCases(options.seed, ROUNDS)).filter(({ id, source }) =>
    isChosen(options, id, source),
  )
