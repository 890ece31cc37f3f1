import assert from 'node:assert/strict'
import { test } from 'node:test'
import { caseOf } from '../../../bench/quality/case-requests.ts'
import type { Observation } from '../../../bench/quality/observation.ts'
import { runFacts } from '../../../bench/quality/run-facts.ts'
import { findSubjects, type Subject } from '../../../bench/quality/subjects.ts'
import type { Trajectory } from '../../../bench/quality/trajectory.ts'
import { observeAll } from '../../../bench/suites/corpus.ts'

/** Ten turns. Each result has hashes of its lines and a hash of the whole. */
const run = (result: (index: number) => { text: string; error?: boolean }): Trajectory => ({
  schema: 'bench.trajectory.v1',
  id: 'run',
  source: 'shop',
  task: 'fix',
  model: 'm',
  split: null,
  resolved: null,
  label: 'loop',
  loop_start_step: 3,
  system_chars: 0,
  task_chars: 0,
  steps: Array.from({ length: 10 }, (_, index) => {
    const { text, error = false } = result(index)
    return { calls: [['Bash', { h: '7533a0b62798' }]], results: [{ text, chars: 90, error, empty: false }] }
  }),
})

const observed = async (trajectory: Trajectory, rules: Subject['rules']): Promise<Observation | undefined> => {
  const { detectors } = await findSubjects({ detectors: ['tool_repeat'], presets: [] }, process.cwd())
  const subject: Subject = { id: 'mine', kind: 'rules', version: '1', rule_type: null, params: null, needs: [], rules }
  const subjects = { detectors, subjects: [subject], peers: [] }
  const [one] = await observeAll([caseOf('corpus', trajectory)], subjects, runFacts())
  return one
}

test('a rule that blocks or pauses stops its first match, one that steers its second', async () => {
  const rule = { rule_type: 'tool_repeat', threshold: 3, window_size: 8 }
  const same = run(() => ({ text: 'vilfol 0xe527dfc1cb' }))
  const blocked = await observed(same, [{ ...rule, action: 'block' }])
  const steered = await observed(same, [{ ...rule, action: 'steer' }])
  assert.deepEqual([blocked?.first_detection_step, blocked?.decision], [4, 'block'])
  const paused = await observed(same, [
    { ...rule, action: 'pause' },
    { ...rule, threshold: 2, action: 'flag' },
  ])
  assert.deepEqual([paused?.first_detection_step, paused?.decision], [4, 'block'])
  assert.deepEqual([steered?.first_detection_step, steered?.decision], [5, 'block'])
  assert.equal((await observed(same, [{ ...rule, action: 'flag' }]))?.decision, 'shadow_flag')
})

test('results known as line hashes are equal, new or failed like their texts', async () => {
  const repeated = { rule_type: 'tool_repeat', threshold: 3, window_size: 8, params: { result_aware: true } }
  const stalled = { rule_type: 'novelty_stall', threshold: 6, window_size: 0 }
  const failing = { rule_type: 'tool_error_streak', threshold: 4, window_size: 0 }
  const step = async (result: Parameters<typeof run>[0], rule: Subject['rules'][number]) =>
    (await observed(run(result), [rule]))?.first_detection_step ?? null
  const hashOf = (index: number) => `0x${'0123456789'.charAt(index)}27dfc1cb`
  // the same lines with other numbers: a different result without new text
  const renumbered = (index: number) => ({ text: `vilfol\nkahzxy ${hashOf(index)}` })
  assert.equal(await step(renumbered, repeated), null)
  assert.notEqual(await step(renumbered, stalled), null)
  // different lines
  const news = (index: number) => ({ text: `vilfol\nkahzxy${'abcdefghij'.charAt(index)} ${hashOf(index)}` })
  assert.equal(await step(news, stalled), null)
  // errors have a hash in letters, which the masking of digits does not change
  assert.equal(await step(() => ({ text: 'hoiqze cmkzymue', error: true }), failing), 5)
  const others = (index: number) => ({ text: `hoiqze cmkzymu${'abcdefghij'.charAt(index)}`, error: true })
  assert.equal(await step(others, failing), null)
})
