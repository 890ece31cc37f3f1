import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, test } from 'node:test'
import { withBaseline } from '../../../bench/quality/baseline.ts'
import { caseOf } from '../../../bench/quality/case-requests.ts'
import { broken, readFailIf } from '../../../bench/quality/fail-if.ts'
import { qualityText } from '../../../bench/quality/report.ts'
import { runFacts } from '../../../bench/quality/run-facts.ts'
import { findSubjects } from '../../../bench/quality/subjects.ts'
import { type Summary, summarise } from '../../../bench/quality/summary.ts'
import type { Trajectory } from '../../../bench/quality/trajectory.ts'
import { observeAll } from '../../../bench/suites/corpus.ts'

const run = (id: string, over: Partial<Trajectory>, same: boolean): Trajectory => ({
  schema: 'bench.trajectory.v1',
  id,
  source: id.split('-')[0] ?? '',
  task: 'fix',
  model: 'm-1',
  split: null,
  resolved: null,
  label: same ? 'loop' : 'clean',
  loop_start_step: same ? 3 : null,
  system_chars: 400,
  task_chars: 0,
  steps: Array.from({ length: 8 }, (_, index) => ({
    calls: [['read', { file: same ? 'a' : `a${index}` }]],
    results: [{ text: same ? 'x' : `x${index}`, chars: 400, error: false, empty: false }],
  })),
  ...over,
})

/** Two loops, one of which starts too late for the alarm, and two clean runs, one of which repeats a call. */
const trajectories = [
  run('shop-loop', {}, true),
  run('shop-early', { loop_start_step: 9 }, true),
  run('mill-work', { resolved: true }, false),
  run('mill-alike', { label: 'clean', loop_start_step: null, resolved: true }, true),
]

const summaries = async (): Promise<readonly Summary[]> => {
  const subjects = await findSubjects({ detectors: ['tool_repeat', 'error_retry'], presets: [] }, process.cwd())
  const cases = trajectories.map((trajectory) => caseOf('corpus', trajectory))
  return summarise(await observeAll(cases, subjects, runFacts()))
}

test('a confidence interval is wider with fewer tasks, and equal in every run', async () => {
  const subjects = await findSubjects({ detectors: ['tool_repeat'], presets: [] }, process.cwd())
  const intervals = async (count: number) => {
    const cases = Array.from({ length: count }, (_, task) =>
      trajectories.map((one) =>
        caseOf('corpus', { ...one, id: `${one.id} ${task}`, task: task % 4 === 0 ? one.id : `${task}` }),
      ),
    ).flat()
    const observations = await observeAll(cases, subjects, runFacts())
    const [all] = summarise(observations)
    assert.deepEqual(summarise(observations)[0]?.intervals_95, all?.intervals_95)
    const [low = 0, high = 0] = all?.intervals_95?.recall ?? []
    assert.ok(low <= (all?.recall ?? -1) && high >= (all?.recall ?? 2) && low < high)
    return { width: high - low, text: qualityText([all as Summary], false) }
  }
  const [few, many] = [await intervals(4), await intervals(40)]
  assert.ok(few.width > many.width)
  assert.match(
    many.text,
    /95 % of collections with other tasks of the same kind\n[\s\S]*tool_repeat +\d+\.\d – \d+\.\d % /,
  )
})

test('summaries count correct, early, wrong, harmful and saved requests, also by source', async () => {
  const found = await summaries()
  const all = found.find(({ detector, group }) => detector.id === 'tool_repeat' && group === 'all')
  assert.deepEqual(
    [all?.n, all?.loops, all?.cleans, all?.precision, all?.recall, all?.clean_fp_rate],
    [4, 2, 2, 1 / 3, 0.5, 0.5],
  )
  assert.deepEqual([all?.harmful_blocks, all?.solved, all?.median_lag, all?.alarms], [1, 2, 1, 3])
  assert.ok((all?.tokens_saved_share ?? 0) > 0.3)
  assert.ok((all?.ns_per_decision?.p50 ?? 0) > 0)
  assert.deepEqual(all?.intervals_95, {
    tasks: 1,
    precision: [1 / 3, 1 / 3],
    recall: [0.5, 0.5],
    clean_fp_rate: [0.5, 0.5],
  })
  const mill = found.find(({ detector, group }) => detector.id === 'tool_repeat' && group === 'source mill')
  assert.deepEqual([mill?.n, mill?.clean_fp_rate, mill?.recall], [2, 0.5, null])
})

test('a detector without its evidence is excluded, not counted as zero', async () => {
  const found = (await summaries()).find(({ detector, group }) => detector.id === 'error_retry' && group === 'all')
  assert.deepEqual([found?.n, found?.excluded, found?.recall, found?.ns_per_decision], [4, 4, null, null])
  assert.match(qualityText(await summaries(), false), /error_retry +4 +0 +no evidence/)
  assert.match(qualityText(await summaries(), true), /tool_repeat \(source mill\)/)
})

describe('--fail-if', () => {
  it('applies to every subject, or to one subject of one suite', async () => {
    const found = await summaries()
    const lines = (...texts: readonly string[]) => broken(texts.map(readFailIf), found)
    assert.deepEqual(lines('clean_fp_rate>0.5', 'recall<0.5', 'tool_repeat:harmful_blocks>=2'), [])
    assert.deepEqual(lines('corpus/tool_repeat:recall<=0.5'), [
      'corpus/tool_repeat: recall is 0.5, and "corpus/tool_repeat:recall<=0.5"',
    ])
    assert.equal(lines('harmful_blocks > 0', 'ns_per_decision.p50>0').length, 2)
  })
  it('rejects an invalid limit, and a figure that was not measured', async () => {
    assert.throws(() => readFailIf('recall'), /--fail-if takes "clean_fp_rate>0\.01"/)
    const found = await summaries()
    for (const text of ['speed>1', 'sequence_repeat:recall<1', 'synthetic/tool_repeat:recall<1'])
      assert.throws(() => broken([readFailIf(text)], found), /speaks of what was not measured/)
  })
})

test('figures are compared with a baseline', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-baseline-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  const now = await summaries()
  const file = join(folder, 'before.jsonl')
  await writeFile(file, now.map((one) => `${JSON.stringify({ ...one, recall: 0.25 })}\n`).join(''))
  const compared = await withBaseline(now, file)
  assert.equal(compared[0]?.baseline?.name, 'before.jsonl')
  const all = compared.find(({ detector, group }) => detector.id === 'tool_repeat' && group === 'all')
  assert.deepEqual([all?.baseline?.deltas.recall, all?.baseline?.deltas.precision], [0.25, 0])
  assert.match(qualityText(compared, false), /50\.0 % \(n=2\) \(\+25\.0\)/)
  await writeFile(file, '{}\n')
  await assert.rejects(withBaseline(now, file), /holds no line of bench\.summary\.v1/)
  await assert.rejects(withBaseline(now, join(folder, 'none')), /cannot be read/)
})
