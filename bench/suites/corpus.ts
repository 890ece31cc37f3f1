import { type BenchOptions, isChosen } from '../options.ts'
import { observePeers } from '../peers/observe.ts'
import type { Case } from '../quality/case.ts'
import { caseOf } from '../quality/case-requests.ts'
import type { Corpus } from '../quality/corpus.ts'
import { openJudge } from '../quality/judge.ts'
import type { Observation, RunFacts } from '../quality/observation.ts'
import { observe, watch } from '../quality/observe.ts'
import type { Subject, Subjects } from '../quality/subjects.ts'

const SMOKE_CASES = 40
/** Maximum rules per policy. */
const MOST_RULES = 64

/** Plays recorded runs for every subject. */
export const runCorpus = (
  { trajectories, collections }: Corpus,
  subjects: Subjects,
  facts: RunFacts,
  options: BenchOptions,
): Promise<readonly Observation[]> => {
  const chosen = trajectories.filter(({ id, source }) => isChosen(options, id, source))
  const played = options.smoke ? chosen.slice(0, SMOKE_CASES) : chosen
  return observeAll(
    played.map((trajectory) => caseOf('corpus', trajectory, collections.get(trajectory.id) ?? null)),
    subjects,
    facts,
  )
}

/** Plays all cases, each in a session of its own. */
export const observeAll = async (
  cases: readonly Case[],
  { detectors, subjects, peers }: Subjects,
  facts: RunFacts,
): Promise<readonly Observation[]> => {
  const observations: Observation[] = []
  for (const some of atOnce(subjects)) {
    const { watched, rules } = watch(some, detectors)
    const judge = await openJudge(detectors, rules)
    try {
      for (const one of cases) observations.push(...(await observe(one, watched, judge, facts)))
    } finally {
      await judge.gateway.close()
    }
  }
  for (const one of cases) observations.push(...observePeers(one, peers, facts))
  return observations
}

/** Groups of subjects that fit into one policy. */
const atOnce = (subjects: readonly Subject[]): readonly (readonly Subject[])[] => {
  const groups: Subject[][] = [[]]
  let rules = 0
  for (const subject of subjects) {
    rules += subject.rules.length
    if (rules > MOST_RULES && groups.at(-1)?.length !== 0) {
      groups.push([])
      rules = subject.rules.length
    }
    groups.at(-1)?.push(subject)
  }
  return groups.filter((group) => group.length > 0)
}
