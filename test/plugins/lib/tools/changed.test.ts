import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isNewChange } from '#lib/tools'
import { called, conversation, result, step, turn } from '../../../kit/conversation.ts'

describe('a new change', () => {
  const changed = (...items: ReturnType<typeof step>) => {
    const { turns } = conversation(items)
    return isNewChange(turns, turns.length - 1)
  }
  it('is an edit, an act or a changing command that no turn shortly before made', () => {
    assert.ok(changed(...step('Edit', { a: 1 })))
    assert.ok(changed(...step('browser_click', { a: 1 })))
    assert.ok(changed(...step('Bash', { command: 'rm a' })))
    assert.ok(changed(...step('Edit', { a: 1 }), ...step('Edit', { a: 2 })))
    assert.ok(!changed(...step('Edit', { a: 1 }), ...step('Read'), ...step('Edit', { a: 1 })))
    assert.ok(!changed(...step('Bash', { command: 'npm test' })))
    assert.ok(!changed(...step('Read')))
  })
  it('did not fail', () => {
    const call = called('Edit', { a: 1 })
    assert.ok(!changed(turn(call), result(call.id, 'not found', true)))
  })
  it('may be of a tool that a rule names', () => {
    const { turns } = conversation(step('frobnicate'))
    assert.ok(!isNewChange(turns, 0))
    assert.ok(isNewChange(turns, 0, (tool) => tool === 'frobnicate'))
    assert.ok(!isNewChange(turns, 7))
  })
})
