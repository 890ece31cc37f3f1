import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Case } from '../../../bench/quality/case.ts'
import { verdictOf } from '../../../bench/quality/verdict.ts'

const run = (over: Partial<Case>): Case => ({
  id: 'run',
  suite: 'corpus',
  collection: null,
  source: 'shop',
  task: null,
  split: null,
  kind: null,
  label: 'clean',
  loop_start_step: null,
  resolved: null,
  waste: null,
  tokens_estimated: true,
  evidence: new Set(),
  turns: null,
  tokens: () => [],
  requests: () => [],
  ...over,
})
const loop = run({ label: 'loop', loop_start_step: 10 })

describe('the verdict on an alarm', () => {
  it('depends on the label', () => {
    assert.equal(verdictOf(run({}), null, false).outcome, 'tn')
    assert.equal(verdictOf(run({}), 3, false).outcome, 'fp')
    assert.equal(verdictOf(loop, null, false).outcome, 'fn')
    assert.equal(verdictOf(run({ label: 'ambiguous' }), 3, false).outcome, 'excluded')
    assert.equal(verdictOf(run({ label: null }), 3, false).outcome, 'excluded')
    assert.equal(verdictOf(loop, null, true).outcome, 'excluded')
  })
  it('is early if the alarm is more than four requests before the loop', () => {
    assert.deepEqual(
      [5, 6, 10, 17].map((step) => [verdictOf(loop, step, false).outcome, verdictOf(loop, step, false).lag_steps]),
      [
        ['early', null],
        ['tp', 0],
        ['tp', 0],
        ['tp', 7],
      ],
    )
    assert.equal(verdictOf(loop, 5, false).false_positive, true)
  })
  it('is harmful for a run that solved its task, whatever its label', () => {
    assert.equal(verdictOf(run({ label: 'ambiguous', resolved: true }), 3, false).harmful_block, true)
    assert.equal(verdictOf(run({ resolved: true }), null, false).harmful_block, false)
    assert.equal(verdictOf(run({ resolved: false }), 3, false).harmful_block, false)
  })
})
