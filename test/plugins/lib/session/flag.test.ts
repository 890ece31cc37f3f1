import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addSinceFlag, flagOf, isCounting, noteFlag } from '#lib/session'
import { aMatch, aSessionRow, NOON } from '../../../kit/settled.ts'

const flagged = (matches: readonly ReturnType<typeof aMatch>[], rule_id: string | null = matches[0]?.rule_id ?? null) =>
  ({ decision: 'shadow_flag', reason: 'LOOP_TOOL_CALL', rule_id, matches }) as const

const loop = { rule_id: 'tool_repeat', reason: 'LOOP_TOOL_CALL', action: 'block' }
const only = { rule_id: 'reread', reason: 'LOOP_REREAD', action: 'flag' }

test('the flag is that of the match for which enforcing would have refused the request', () => {
  const flags = aMatch({ rule_id: 'reread', code: 'LOOP_REREAD', action: 'flag' })
  assert.deepEqual(flagOf(flagged([flags, aMatch()]), 'shadow'), loop)
  assert.deepEqual(flagOf(flagged([aMatch({ action: 'pause' })]), 'shadow')?.action, 'pause')
})

test('a probe, a match in the reply and what enforce mode lets pass are not what enforcing would have refused', () => {
  assert.equal(flagOf(flagged([aMatch({ probe: true })]), 'shadow')?.action, 'flag')
  assert.equal(flagOf(flagged([aMatch({ evidence: 'stream' })]), 'shadow')?.action, 'flag')
  assert.equal(flagOf(flagged([aMatch()]), 'enforce')?.action, 'flag')
  assert.equal(flagOf(flagged([]), 'shadow')?.action, null, 'a plugin flagged it, no rule')
  assert.equal(flagOf({ ...flagged([]), decision: 'allow' }, 'shadow'), undefined)
})

test('the first flag stays, until one comes that enforcing would have refused', () => {
  const row = aSessionRow()
  noteFlag(row, only, NOON)
  addSinceFlag(row, 1, 10, 5)
  noteFlag(row, { ...only, rule_id: 'other' }, NOON + 1)
  assert.deepEqual([row.flagged_rule_id, row.requests_since_flag], ['reread', 1])
  noteFlag(row, loop, NOON + 2)
  addSinceFlag(row, 1, 30, 7)
  noteFlag(row, { ...loop, rule_id: 'exact_repeat' }, NOON + 3)
  addSinceFlag(row, 1, 30, 7)
  assert.equal(row.flagged_at, NOON + 2)
  assert.deepEqual(
    [row.flagged_rule_id, row.requests_since_flag, row.tokens_since_flag, row.cost_since_flag_micro],
    ['tool_repeat', 2, 60, 14],
  )
})

test('nothing counts before the flag, nor after a person has let the session go on, until it is flagged again', () => {
  const row = aSessionRow()
  assert.equal(isCounting(row, NOON), false)
  noteFlag(row, loop, NOON)
  assert.equal(isCounting(row, NOON - 1), false)
  assert.equal(isCounting(row, NOON), true)
  row.resumed_at = NOON + 10
  assert.equal(isCounting(row, NOON + 20), false)
  noteFlag(row, loop, NOON + 5)
  assert.equal(row.flagged_at, NOON, 'a request from before does not flag it again')
  noteFlag(row, only, NOON + 30)
  assert.deepEqual([row.flagged_at, row.flagged_action, isCounting(row, NOON + 30)], [NOON + 30, 'flag', true])
})
