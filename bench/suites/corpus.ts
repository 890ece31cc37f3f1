import { caseOf } from '../lib/asks.ts'
import type { Case } from '../lib/case.ts'
import { openJudge } from '../lib/judge.ts'
import type { Corpus } from '../lib/load.ts'
import type { Observation, RunFacts } from '../lib/observation.ts'
import { observe, watch } from '../lib/observe.ts'
import type { Subjects } from '../lib/subjects.ts'
import { type BenchOptions, isChosen } from '../options.ts'

const SMOKE_CASES = 40

/** Plays recorded runs through every subject. */
export const runCorpus = (
  { trajectories }: Corpus,
  subjects: Subjects,
  facts: RunFacts,
  options: BenchOptions,
): Promise<readonly Observation[]> => {
  const chosen = trajectories.filter(({ id, source }) => isChosen(options, id, source))
  const played = options.smoke ? chosen.slice(0, SMOKE_CASES) : chosen
  return observeAll(
    played.map((trajectory) => caseOf('corpus', trajectory)),
    subjects,
    facts,
  )
}

/** Every case, one behind the other, each in a session of its own. */
export const observeAll = async (
  cases: readonly Case[],
  { detectors, subjects }: Subjects,
  facts: RunFacts,
): Promise<readonly Observation[]> => {
  const { watched, rules } = watch(subjects)
  const judge = await openJudge(detectors, rules)
  try {
    const observations: Observation[] = []
    for (const one of cases) observations.push(...(await observe(one, watched, judge, facts)))
    return observations
  } finally {
    await judge.gateway.close()
  }
}
