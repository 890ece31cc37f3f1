import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { step, system, user } from '../../../kit/conversation.ts'
import { call } from '../../../kit/evidence.ts'
import { busy, defaultRules } from '../kit.ts'
import { begin, growing, startSimulations as start } from './kit.ts'

describe('stored requests that pass the rules again', () => {
  it('finds what the same rules found in live traffic', async () => {
    const { live, post, gateway } = await start()
    await live(
      'ses_loop',
      growing(8, () => step('read')),
    )
    await live(
      'ses_same',
      Array.from({ length: 5 }, () => [...begin]),
    )
    await live(
      'ses_errors',
      growing(8, (number) => step('read', { number })),
      busy,
    )
    const { rows } = await gateway.storage.find('calls', { order: ['recorded', 'asc'] })
    const first = new Map<string | null, string>()
    for (const { session_id, id, decision } of rows)
      if (decision !== 'allow' && !first.has(session_id)) first.set(session_id, id)
    const { body } = await post({ rules: defaultRules })
    assert.equal(first.size, 3)
    assert.deepEqual(new Map(body.flagged.map((one) => [one.session_id, one.first_request_id])), first)
  })
  it('lets the pause of a rule pass as it passed then', async () => {
    const { live, post } = await start()
    await live(
      'ses_slow',
      growing(8, (number) => step('read', { number })),
      busy,
    )
    const flagged = async (cooldown_seconds: number) => {
      const { body } = await post({ rules: [{ rule_type: 'error_retry', params: { cooldown_seconds } }] })
      return body.flagged.length
    }
    assert.deepEqual([await flagged(5), await flagged(60)], [0, 1])
  })
  it('finds what they found where users speak between calls, alone or together with the next one', async () => {
    const params = { reset_on_user_message: true }
    const aware = { ...params, result_aware: true }
    const rules = [
      { id: 'literal', rule_type: 'tool_repeat', params },
      { id: 'aware', rule_type: 'tool_repeat', params: aware },
      { id: 'cycle', rule_type: 'sequence_repeat', threshold: 2, params: aware },
      { rule_type: 'exact_repeat', threshold: 4 },
    ]
    const { live, post, put, gateway } = await start()
    await put({ rules })
    const parts = { r: () => step('read'), w: () => step('write'), u: () => [user('go on')], s: () => [system('s')] }
    const part = fc.constantFrom(...(['r', 'r', 'r', 'w', 'u', 's'] as const))
    const sessions = fc.sample(fc.array(fc.array(part, { maxLength: 2 }), { minLength: 4, maxLength: 12 }), {
      seed: 1,
      numRuns: 60,
    })
    for (const [number, requests] of sessions.entries()) {
      let items = begin
      const grown = requests.map((kinds) => {
        items = [...items, ...kinds.flatMap((kind) => parts[kind]())]
        return items
      })
      await live(`ses_${number}`, grown)
    }
    const { rows } = await gateway.storage.find('calls', { order: ['recorded', 'asc'], limit: 1000 })
    const first = new Map<string, (string | undefined)[]>()
    for (const { session_id, id, matches } of rows)
      if (matches !== null && !first.has(String(session_id)))
        first.set(String(session_id), [id, matches[0]?.rule_id, matches[0]?.message])
    const { body } = await post({ rules, limit: 100 })
    const told = body.flagged.map((one) => [one.session_id, [one.first_request_id, one.rule_id, one.message]] as const)
    assert.ok(first.size > 10)
    assert.deepEqual(Object.fromEntries(told), Object.fromEntries(first))
  })
  it('takes so many attempts for one request as a gateway does', async () => {
    const { live, post, send, clock } = await start()
    const session = await live('ses_patient', [[...begin]])
    const told: (string | null)[] = []
    for (let n = 0; n < 24; n++) {
      clock.advance(10_000)
      told.push((await send(call({ session, items: begin, at: clock.now(), retry: true }))).reason)
    }
    assert.equal(told.indexOf('LOOP_EXACT') + 2, 21)
    assert.equal((await post({ rules: [{ rule_type: 'exact_repeat' }] })).body.flagged[0]?.step, 21)
  })
})
