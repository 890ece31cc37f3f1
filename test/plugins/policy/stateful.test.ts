import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Session } from 'guard-gateway/core'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { trajectoriesOf } from '../../../plugins/bench/routes.ts'
import { type Item, result, user } from '../../kit/conversation.ts'
import { call } from '../../kit/evidence.ts'
import { aReading } from '../../kit/settled.ts'
import { busy, newSession, restarted, startApi } from './kit.ts'

const rules = [{ rule_type: 'tool_repeat', threshold: 3, window_size: 8 }]

/** A conversation that the provider keeps: one reply asks for a poll, two requests with its result fail, the third one goes through. */
const start = async () => {
  const api = await startApi({ defaults: rules }, [responses])
  const session = newSession({ id: 'ses_poll', created_at: api.clock.now() })
  await api.gateway.storage.put('sessions', session.row)
  /** Answers call `n`; the reply, if there is one, makes the next call. */
  const answer = (within: Session, n: number, failed = false, text = 'not yet') => {
    api.clock.advance(1000)
    const items = n < 0 ? [user('go')] : [result(`call_${n}`, text)]
    const calls = [{ id: `call_${n + 1}`, tool: 'poll', args: '{}' }]
    const asked = call({ session: within, items, at: api.clock.now(), envelope: { conversation: 'conv_1' } })
    return api.send(
      { ...asked, style: 'responses' },
      failed ? busy : { reading: aReading({ response_id: `resp_${n + 1}`, calls }) },
    )
  }
  await answer(session, -1)
  await answer(session, 0, true)
  await answer(session, 0, true)
  return { ...api, session, answer }
}

describe('what a failed request brought to a conversation that the provider keeps', () => {
  it('counts once when it is brought again', async () => {
    const { session, answer } = await start()
    assert.equal((await answer(session, 0)).decision, 'allow')
    assert.equal((await answer(session, 1)).decision, 'allow')
    assert.equal((await answer(session, 2)).reason, 'LOOP_TOOL_CALL')
  })
  it('does so after a restart, too', async () => {
    const { session, answer } = await start()
    await answer(session, 0)
    const later = restarted(session)
    assert.equal((await answer(later, 1)).decision, 'allow')
    assert.equal((await answer(later, 2)).reason, 'LOOP_TOOL_CALL')
  })
  it('does so if it is brought with another result, before a restart or after it', async () => {
    for (const again of [(session: Session) => session, restarted]) {
      const { session, answer } = await start()
      const later = again(session)
      await answer(later, 0, false, 'not quite')
      assert.equal((await answer(later, 1, false, 'soon')).decision, 'allow')
      assert.equal((await answer(later, 2, false, 'very soon')).reason, 'LOOP_TOOL_CALL')
    }
  })
  it('does so in a simulation and in a trajectory', async () => {
    const { session, answer, app, gateway } = await start()
    await answer(session, 0)
    await answer(session, 1)
    const reply = await app.inject({ method: 'POST', url: '/api/policies/shop/simulate', payload: { rules } })
    const { requests, flagged } = reply.json()
    assert.deepEqual([requests, flagged], [5, []])
    const { rows } = await gateway.storage.find('calls', { order: ['recorded', 'asc'] })
    const [kept] = trajectoriesOf(session.row, rows)
    assert.deepEqual([kept?.steps.length, kept?.tokens.length], [2, 3])
  })
})

describe('a history that the provider keeps', () => {
  it('is judged by the turns of its rows and the calls of the replies', async () => {
    const bench = await startApi({ defaults: rules, default_mode: 'enforce' })
    const session = newSession()
    const decisions = []
    for (let n = 0; n < 4; n++) {
      const items: Item[] =
        n === 0 ? [user('go')] : [{ kind: 'result', id: `call_${n - 1}`, text: 'same', error: false }]
      const envelope = { previous_response_id: n === 0 ? null : `resp_${n - 1}` }
      const reading = aReading({
        response_id: `resp_${n}`,
        calls: [{ id: `call_${n}`, tool: 'poll', args: '{"id": 7}' }],
      })
      decisions.push(await bench.send(call({ session, items, envelope }), { reading }))
    }
    assert.deepEqual(
      decisions.map((one) => one.reason),
      [null, null, null, 'LOOP_TOOL_CALL'],
    )
    assert.equal(decisions.at(-1)?.matches[0]?.evidence, 'history')
    assert.equal(decisions.at(-1)?.matches[0]?.results_equal, true)
  })
  it('is that of the reply which a request names, also after a restart', async () => {
    const aware = [{ rule_type: 'tool_repeat', threshold: 3, window_size: 8, params: { result_aware: true } }]
    for (const again of [(session: Session) => session, restarted]) {
      const bench = await startApi({ defaults: aware }, [responses])
      const session = newSession({ id: 'ses_back' })
      await bench.gateway.storage.put('sessions', session.row)
      const answer = (within: Session, n: number, to: number | null) => {
        bench.clock.advance(1000)
        const items: Item[] = to === null ? [user('go')] : [result(`call_${to}`, 'not yet')]
        const envelope = { previous_response_id: to === null ? null : `resp_${to}` }
        const reading = aReading({ response_id: `resp_${n}`, calls: [{ id: `call_${n}`, tool: 'poll', args: '{}' }] })
        const asked = call({ session: within, items, at: bench.clock.now(), envelope })
        return bench.send({ ...asked, style: 'responses' }, { reading })
      }
      await answer(session, 0, null)
      await answer(session, 1, 0)
      await answer(session, 2, 1)
      await answer(session, 3, 0)
      assert.equal((await answer(again(session), 4, 3)).reason, null)
    }
  })
})
