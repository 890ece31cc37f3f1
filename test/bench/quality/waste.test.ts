import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { caseOf } from '../../../bench/quality/case-requests.ts'
import { savingsOf } from '../../../bench/quality/savings.ts'
import { firstLoop, staleTurns } from '../../../bench/quality/stale.ts'
import type { Step, Trajectory } from '../../../bench/quality/trajectory.ts'
import { wasteFrom, wasteOf } from '../../../bench/quality/waste.ts'

const step = (tool: string, args: unknown, text: string, error = false): Step => ({
  calls: [[tool, args]],
  results: [{ text, chars: text.length, error, empty: text === '' }],
})
const read = (file: string, text: string): Step => step('read', { file }, text)
const work = (index: number): Step => read(`w${index}`, `line ${index}`)

const run = (steps: readonly Step[], over: Partial<Trajectory> = {}): Trajectory => ({
  schema: 'bench.trajectory.v1',
  id: 'run',
  source: 'shop',
  task: 'fix',
  model: 'm',
  split: null,
  resolved: null,
  label: 'loop',
  loop_start_step: 9,
  system_chars: 0,
  task_chars: 0,
  tokens: steps.map(() => 10),
  steps,
  ...over,
})

describe('a stale turn', () => {
  const stale = (...steps: readonly Step[]) => staleTurns(steps).at(-1)
  it('repeats a call with the same result within ten turns', () => {
    const far = Array.from({ length: 10 }, (_, index) => work(index))
    assert.equal(stale(read('a', 'x'), ...far.slice(1), read('a', 'x')), true)
    assert.equal(stale(read('a', 'x'), ...far, read('a', 'x')), false)
    assert.equal(stale(read('a', 'x'), read('a', 'y')), false)
    assert.equal(stale(read('a', 'x'), read('b', 'x')), false)
    assert.equal(stale(read('a', ''), read('a', '')), false)
  })
  it('repeats an error of a tool, numbers aside, in two consecutive turns', () => {
    const fails = (file: string, text: string) => step('make', { file }, text, true)
    assert.equal(stale(fails('a', 'line 12 is wrong'), fails('b', 'line 7 is wrong')), true)
    assert.equal(stale(fails('a', 'line 12 is wrong'), work(1), fails('b', 'line 7 is wrong')), false)
    assert.equal(stale(fails('a', 'line 12 is wrong'), fails('b', 'no such file')), false)
    assert.equal(stale(step('make', 'a', 'is wrong'), step('make', 'b', 'is wrong')), false)
  })
  it('repeats a change in three consecutive turns, whatever its results', () => {
    const edit = (text: string) => step('Edit', { file: 'a' }, text)
    assert.equal(stale(edit('1'), edit('2'), edit('3')), true)
    assert.equal(stale(edit('1'), edit('2')), false)
    assert.equal(stale(read('a', '1'), read('a', '2'), read('a', '3')), false)
  })
  it('starts a loop together with two others within six turns', () => {
    const at = (...places: readonly number[]) =>
      firstLoop(Array.from({ length: 20 }, (_, turn) => places.includes(turn)))
    assert.deepEqual(at(3, 5, 8), { first: 3, third: 8 })
    assert.equal(at(3, 5, 9), null)
    assert.deepEqual(at(0, 7, 9, 12, 13), { first: 7, third: 12 })
  })
})

describe('waste', () => {
  it('starts after the third stale turn', () => {
    const steps = [work(1), read('a', 'x'), read('a', 'x'), work(2), read('a', 'x'), read('a', 'x'), work(3)]
    assert.deepEqual(wasteOf(run(steps)), { first_stale_step: 4, waste_start_step: 7 })
    assert.equal(wasteOf(run(steps, { label: 'clean' })), null)
    assert.equal(wasteOf(run(steps, { label: 'ambiguous' })), null)
  })
  it('follows from the label if texts are missing, and from the known start of a synthetic run', () => {
    assert.deepEqual(wasteOf(run([work(1), work(2)])), { first_stale_step: 9, waste_start_step: 11 })
    assert.deepEqual(caseOf('synthetic', run([read('a', 'x')])).waste, wasteFrom(9))
    assert.equal(caseOf('synthetic', run([], { loop_start_step: null })).waste, null)
  })
})

describe('the savings of a stop', () => {
  /** Ten requests of ten tokens. The seventh and later ones are wasted. */
  const steps = [
    work(1),
    read('a', 'x'),
    read('a', 'x'),
    read('a', 'x'),
    work(2),
    read('a', 'x'),
    work(3),
    work(4),
    work(5),
    work(6),
  ]
  const saved = (step: number | null, over: Partial<Trajectory> = {}) => {
    const one = caseOf('corpus', run(steps, over))
    return savingsOf(one, one.tokens(), step, 3)
  }
  it('are the wasted requests from the refused one on', () => {
    assert.deepEqual(caseOf('corpus', run(steps)).waste, { first_stale_step: 4, waste_start_step: 7 })
    const { wasted_requests, wasted_tokens, wasted_cost_micro } = saved(null)
    assert.deepEqual([wasted_requests, wasted_tokens, wasted_cost_micro], [4, 40, 120])
    assert.deepEqual(
      [null, 2, 7, 9].map((step) => {
        const { waste_saved_requests, waste_saved_tokens, stop_lag_steps, work_lost_requests } = saved(step)
        return [waste_saved_requests, waste_saved_tokens, stop_lag_steps, work_lost_requests]
      }),
      [
        [0, 0, null, 0],
        [4, 40, -2, 2],
        [4, 40, 3, 0],
        [2, 20, 5, 0],
      ],
    )
  })
  it('cost the later work of a run that is no loop or solved its task', () => {
    const clean = saved(8, { label: 'clean' })
    assert.deepEqual([clean.wasted_requests, clean.work_lost_requests, clean.work_lost_cost_micro], [null, 3, 90])
    const solved = saved(8, { resolved: true })
    assert.deepEqual([solved.waste_saved_requests, solved.work_lost_tokens], [3, 30])
    assert.equal(saved(8, { label: 'ambiguous' }).work_lost_tokens, null)
  })
})
