import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Finding } from 'guard-gateway/core'
import { toolErrorStreak } from 'guard-gateway/plugins/detectors/tool-error-streak'
import { detectorConforms } from '../../conformance/detector.ts'
import { called, conversation, type Item, keyOf, result, says, step, turn, user } from '../../kit/conversation.ts'
import { evidence } from '../../kit/evidence.ts'

const shown = (items: readonly Item[], rule = {}) =>
  evidence(toolErrorStreak, 'a', { turns: conversation(items).turns, rule })
const detect = (items: readonly Item[], rule = {}) => toolErrorStreak.detect(shown(items, rule)) as Finding | undefined

const failing = (args: object = { cmd: 'make' }, text = 'make: *** No rule to make target', tool = 'bash'): Item[] => {
  const call = called(tool, args)
  return [turn(call), result(call.id, text, true)]
}
const times = (count: number, items: () => Item[]) => Array.from({ length: count }, items).flat()

detectorConforms(toolErrorStreak, shown(times(4, () => failing())))

describe('tool_error_streak: 4 tool turns in a row', () => {
  it('speaks at the fourth equal failure, with the places of all', () => {
    assert.equal(detect(times(3, () => failing())), undefined)
    assert.deepEqual(detect(times(4, () => failing())), {
      message: 'bash failed with the same error in 4 tool turns in a row',
      evidence: 'history',
      count: 4,
      tool: 'bash',
      key: keyOf('bash', { cmd: 'make' }),
      where: [{ turn: -4 }, { turn: -3 }, { turn: -2 }, { turn: -1 }],
      results_equal: true,
    })
  })
  it('needs no equal arguments, and then names no call', () => {
    let n = 0
    const finding = detect(times(4, () => failing({ cmd: `make -j${++n}` })))
    assert.equal(finding?.count, 4)
    assert.equal(finding?.key, undefined)
  })
  it('takes only results that say themselves that they are errors', () => {
    const text = 'Exception: everything is broken'
    const told = () => step('bash', {}, text)
    assert.equal(detect(times(6, told)), undefined)
    assert.equal(detect([...times(3, told), ...failing({}, text)]), undefined)
    assert.equal(detect([...times(3, () => failing({}, text)), ...told()]), undefined)
  })
  it('ends at a success, another error, another tool and a user message', () => {
    const three = times(3, () => failing())
    assert.equal(detect([...three, ...step('bash', { cmd: 'ls' }, 'a.ts'), ...failing()]), undefined)
    assert.equal(detect([...three, ...failing({ cmd: 'make' }, 'permission denied')]), undefined)
    assert.equal(
      detect([...three, ...failing({ cmd: 'make' }, 'make: *** No rule to make target', 'shell')]),
      undefined,
    )
    assert.equal(detect([...three, user('go on'), ...failing()]), undefined)
    assert.equal(detect([...three, ...failing(), user('stop that')]), undefined)
  })
  it('counts on behind a user message where the rule says so', () => {
    const rule = { params: { reset_on_user_message: false } }
    assert.equal(detect([...times(3, () => failing()), user('go on'), ...failing()], rule)?.count, 4)
  })
  it('passes over turns of words and of exempt tools', () => {
    const note = step('todo_write', { items: [] }, 'ok')
    const items = [...failing(), says('again'), ...failing(), ...note, ...failing(), ...note, ...failing()]
    assert.equal(detect(items), undefined)
    assert.equal(detect(items, { params: { exempt_tools: ['todo_*'] } })?.count, 4)
  })
  it('is silent on an error without text', () => assert.equal(detect(times(5, () => failing({}, ''))), undefined))
})
