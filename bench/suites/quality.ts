import { open, writeFile } from 'node:fs/promises'
import { writeError } from '#lib/errors'
import type { BenchOptions } from '../options.ts'
import { withBaseline } from '../quality/baseline.ts'
import { loadCorpus } from '../quality/corpus.ts'
import { broken, readFailIf } from '../quality/fail-if.ts'
import type { Observation } from '../quality/observation.ts'
import { runFacts } from '../quality/run-facts.ts'
import { findSubjects } from '../quality/subjects.ts'
import { type Summary, summarise } from '../quality/summary.ts'
import { runCorpus } from './corpus.ts'
import { runSynthetic } from './synthetic.ts'
import { runVectors } from './vectors.ts'

/** The detection quality. */
export interface QualityResult {
  readonly observations: readonly Observation[]
  readonly summaries: readonly Summary[]
  /** Exceeded limits, and failed cases of the tier `must`. */
  readonly failures: readonly string[]
}

/** Runs the selected suites vectors, corpus and synthetic, if they have data. Throws a TypeError for invalid options. */
export const runQuality = async (options: BenchOptions, log: (line: string) => void): Promise<QualityResult> => {
  const bounds = options.failIf.map(readFailIf)
  if (options.out !== undefined) await checkWritable(options.out)
  const subjects = await findSubjects(options, process.cwd())
  const facts = runFacts(options.price)
  const observations: Observation[] = []
  if (options.suites.includes('vectors')) observations.push(...(await runVectors(facts, options)))
  if (options.suites.includes('corpus')) {
    const corpus = await corpusOf(options, log)
    if (corpus !== undefined) observations.push(...(await runCorpus(corpus, subjects, facts, options)))
  }
  if (options.suites.includes('synthetic')) observations.push(...(await runSynthetic(subjects, facts, options)))
  const summed = summarise(observations)
  const summaries = options.baseline === undefined ? summed : await withBaseline(summed, options.baseline)
  if (options.out !== undefined) await writeFile(options.out, linesOf([...observations, ...summaries]))
  return { observations, summaries, failures: [...failedCases(observations), ...broken(bounds, summaries)] }
}

/** Throws USAGE before the measurement starts, not when the file is written. */
const checkWritable = async (file: string): Promise<void> => {
  try {
    await (await open(file, 'a')).close()
  } catch (cause) {
    throw writeError(file, cause)
  }
}

const NO_CORPUS =
  'corpus: no trajectories at hand; name a folder of .jsonl or .jsonl.gz files with --data or GUARD_BENCH_DATA. Skipped.'

const corpusOf = async ({ data, split }: BenchOptions, log: (line: string) => void) => {
  if (data === undefined) {
    log(NO_CORPUS)
    return undefined
  }
  const corpus = await loadCorpus(data, split)
  if (corpus.trajectories.length > 0) return corpus
  throw new TypeError(`${corpus.folder} holds ${corpus.left_out} trajectories, and none of split "${split}".`)
}

const failedCases = (observations: readonly Observation[]): string[] =>
  observations.flatMap(({ suite, tier, outcome, case_id, error }) =>
    suite === 'vectors' && tier === 'must' && outcome === 'fail' ? [`vectors: ${case_id}: ${error ?? 'failed'}`] : [],
  )

const linesOf = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
