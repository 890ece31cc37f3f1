import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readOptions } from '../../../bench/options.ts'
import { findSubjects } from '../../../bench/quality/subjects.ts'
import { shippedVectors } from '../../../bench/quality/vectors.ts'
import { runQuality } from '../../../bench/suites/quality.ts'
import { failureOf } from '../../../bench/suites/vectors.ts'
import { shippedPolicies } from '../../../presets/default/policies.ts'

const scratch = async (context: TestContext) => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-quality-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}
const quality = async (...args: readonly string[]) => {
  const said: string[] = []
  return { ...(await runQuality(readOptions(args, {}), (line) => said.push(line))), said }
}

test('every shipped vector passes', async () => {
  const { summaries, failures } = await quality('--suite', 'vectors')
  assert.deepEqual(failures, [])
  const passed = summaries.filter(({ group }) => group === 'all').map(({ vectors }) => vectors)
  for (const tier of ['must', 'should'] as const)
    for (const one of passed) assert.equal(one?.[tier].pass, one?.[tier].total)
  assert.ok(passed.reduce((sum, one) => sum + (one?.must.total ?? 0), 0) >= 70)
})

test('a failed vector names its step and the actual decision', async () => {
  const [one] = (await shippedVectors()).filter(({ id }) => id.startsWith('exact-third-blocks/'))
  assert.ok(one)
  const subjects = await findSubjects({ detectors: [], presets: ['default'] }, process.cwd())
  const wrong = { ...one, mode: 'shadow' as const }
  assert.equal(await failureOf(wrong, subjects), 'step 3: wanted block LOOP_EXACT, got shadow_flag LOOP_EXACT')
})

test('without trajectories the bench prints a note and continues', async () => {
  const { said, observations } = await quality('--suite', 'corpus', '--detector', 'tool_repeat')
  assert.match(
    said.join(),
    /^corpus: no trajectories at hand; name a folder .* with --data or GUARD_BENCH_DATA\. Skipped\./,
  )
  assert.deepEqual(observations, [])
  assert.equal(readOptions([], { GUARD_BENCH_DATA: 'runs' }).data, 'runs')
})

test('custom detectors and rules are measured next to the shipped ones', async (context) => {
  const folder = await scratch(context)
  const [file, rules, out] = ['third.ts', 'rules.yml', 'out.jsonl'].map((name) => join(folder, name))
  const source = `import { detector } from ${JSON.stringify(import.meta.resolve('guard-gateway/core'))}
export const third = detector({
  id: 'third_request', code: 'THIRD_REQUEST', version: '3', kind: 'loop', defaults: { threshold: 3, window_size: 0 },
  detect: ({ rule, session }) => (session.requests + 1 >= rule.threshold ? 'the third request' : undefined),
})\n`
  await writeFile(file ?? '', source)
  await writeFile(rules ?? '', 'rules:\n  - { rule_type: third_request, threshold: 2, action: flag }\n')
  const args = [
    '--suite',
    'synthetic',
    '--smoke',
    '--detector',
    file ?? '',
    '--preset',
    rules ?? '',
    '--out',
    out ?? '',
  ]
  const { summaries } = await quality(...args, 'same_call', 'single_requests')
  const all = new Map(summaries.filter(({ group }) => group === 'all').map((one) => [one.detector.id, one]))
  assert.deepEqual([...all.keys()], ['third_request', 'rules'])
  assert.equal(all.get('third_request')?.detector.version, '3')
  assert.equal(all.get('third_request')?.clean_fp_rate, 1)
  const lines = (await readFile(out ?? '', 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const first = lines.find(({ schema, detector }) => schema === 'bench.observation.v1' && detector.id === 'rules')
  assert.deepEqual([first.first_detection_step, first.decision, first.rule_id], [2, 'shadow_flag', 'third_request'])
  assert.ok(lines.some(({ schema }) => schema === 'bench.summary.v1'))
})

test('every shipped policy is measured by its name, and all of them if nothing is named', async () => {
  const presets = Object.keys(shippedPolicies)
  const args = presets.flatMap((preset) => ['--preset', preset])
  const { summaries } = await quality('--suite', 'synthetic', '--smoke', ...args, 'same_call')
  const all = summaries.filter(({ group }) => group === 'all')
  assert.deepEqual(all.map(({ detector }) => detector.id).sort(), presets.toSorted())
  const { subjects } = await findSubjects({ detectors: [], presets: [] }, process.cwd())
  assert.deepEqual(
    subjects.filter(({ kind }) => kind === 'rules').map(({ id }) => id),
    presets,
  )
})

test('an unknown name is rejected', async () => {
  await assert.rejects(quality('--detector', 'horoscope'), /There is no detector "horoscope"; there is .*exact_repeat/)
  await assert.rejects(
    quality('--preset', 'strict'),
    /There is no preset "strict"; there is enforce-recommended, steer-/,
  )
  await assert.rejects(quality('--detector', './nowhere.ts'), /nowhere\.ts cannot be loaded: there is no such file\.$/)
  await assert.rejects(quality('--fail-if', 'recall'), /--fail-if takes/)
})
