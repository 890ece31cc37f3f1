import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Finding } from 'guard-gateway/core'
import { staleTurns } from 'guard-gateway/plugins/detectors/stale-turns'
import { detectorConforms } from '../../conformance/detector.ts'
import { called, conversation, type Item, result, step, turn, user } from '../../kit/conversation.ts'
import { evidence } from '../../kit/evidence.ts'

const shown = (items: readonly Item[], rule = {}) =>
  evidence(staleTurns, 'a', { rule, turns: conversation(items).turns })
const detect = (items: readonly Item[], rule = {}) => staleTurns.detect(shown(items, rule)) as Finding | undefined

const look = (n: number) => step('grep', { n }, `line ${n}`)
const five = [1, 2, 3, 4, 5].flatMap(look)

detectorConforms(staleTurns, shown([...five, ...look(2), ...look(5), ...look(1)]))

describe('stale_turns: 3 of 6 turns that only repeat', () => {
  it('takes no act for a repetition while something else shows that it does something', () => {
    const act = () => step('browser_press_key', { key: 'Tab' }, 'Pressed Tab')
    const round = (n: number) => [...act(), ...step('browser_snapshot', {}, `focus on field ${n}`)]
    assert.equal(detect([...[1, 2, 3, 4, 5].flatMap(round), ...act()]), undefined)
    assert.notEqual(detect([1, 1, 1, 1, 1].flatMap(round)), undefined)
  })
  it('speaks at the third, in whatever order calls are repeated', () => {
    assert.equal(detect([...five, ...look(2), ...look(5)]), undefined)
    assert.deepEqual(detect([...five, ...look(2), ...look(5), ...look(1)]), {
      message: '3 of the last 6 turns repeated earlier calls and got earlier results',
      evidence: 'history',
      count: 3,
      where: [{ turn: -3 }, { turn: -2 }, { turn: -1 }],
      results_equal: true,
    })
  })
  it('counts across turns that bring something, and speaks only at one that does not', () => {
    const mixed = [...five, ...look(2), ...look(6), ...look(5), ...look(7), ...look(1)]
    assert.equal(detect(mixed)?.count, 3)
    assert.equal(detect([...mixed, ...look(8)]), undefined)
  })
  it('does not count a turn with a new call, a new result or none', () => {
    const pair = (a: number, b: number): Item[] => {
      const calls = [called('grep', { n: a }), called('grep', { n: b })]
      return [turn(...calls), ...calls.map(({ id }, index) => result(id, `line ${[a, b][index]}`))]
    }
    assert.equal(detect([...five, ...pair(1, 2), ...pair(3, 4), ...pair(5, 1)])?.count, 3)
    assert.equal(detect([...five, ...pair(1, 6), ...pair(2, 7), ...pair(3, 8)]), undefined)
    const answers = [1, 2, 3].flatMap((n) => step('grep', { n }, `other ${n}`))
    assert.equal(detect([...five, ...answers]), undefined)
    assert.equal(detect([1, 2, 3, 1, 2, 3].flatMap((n) => step('grep', { n }, ''))), undefined)
  })
  it('starts over after a change, not after the same one again', () => {
    const edit = (text: string) => step('Edit', { text }, 'done')
    assert.equal(detect([...five, ...look(2), ...look(5), ...edit('x'), ...look(1)]), undefined)
    assert.equal(detect([...edit('x'), ...five, ...look(2), ...look(5), ...edit('x'), ...look(1)])?.count, 4)
    assert.equal(
      detect([...five, ...look(2), ...look(5), ...step('Bash', { command: 'rm a' }, ''), ...look(1)]),
      undefined,
    )
  })
  it('lets polls and user messages pass', () => {
    const poll = step('TaskOutput', { task_id: 1 }, 'running')
    assert.equal(detect([...poll, ...poll, ...poll, ...poll]), undefined)
    const items = [...five, ...look(2), user('go on'), ...look(5), ...look(1)]
    assert.equal(detect(items), undefined)
    assert.equal(detect(items, { params: { reset_on_user_message: false } })?.count, 3)
  })
  it('forgets calls of more than ten turns ago', () => {
    const other = Array.from({ length: 11 }, (_, n) => look(100 + n)).flat()
    assert.equal(detect([...five, ...other, ...look(1), ...look(2), ...look(3)]), undefined)
  })
})
