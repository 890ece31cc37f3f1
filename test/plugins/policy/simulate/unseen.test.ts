import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Gateway } from 'guard-gateway/core'
import { contentChant } from 'guard-gateway/plugins/detectors/content-chant'
import { maxCost } from 'guard-gateway/plugins/detectors/max-cost'
import { noveltyStall } from 'guard-gateway/plugins/detectors/novelty-stall'
import { step } from '../../../kit/conversation.ts'
import { call } from '../../../kit/evidence.ts'
import { always, detecting, newSession } from '../kit.ts'
import { begin, growing, startSimulations } from './kit.ts'

const priced = (cost_micro: number) => ({ cost: { cost_micro, cost_source: 'priced', price_version: '1' } }) as const
const unpriced = { cost: { cost_micro: 0, cost_source: 'unpriced', price_version: '1' } } as const
const work = (count: number) => growing(count, (number) => step('read', { number }, `page ${number}`))
const told = ({ not_simulated }: { not_simulated: readonly { rule_id: string; reason: string }[] }) =>
  not_simulated.map(({ rule_id, reason }) => `${rule_id}: ${reason}`)

describe('what a simulation could not try', () => {
  it('is a rule about cost where requests have no price; where they have one it is tried', async () => {
    const { live, post } = await startSimulations([maxCost])
    await live('ses_paid', work(4), priced(300))
    const rules = [{ rule_type: 'max_cost', threshold: 500 }]
    const paid = await post({ rules })
    assert.deepEqual([paid.body.flagged[0]?.step, paid.body.rules[0]?.unseen_sessions, told(paid.body)], [3, 0, []])
    await live('ses_free', work(3), unpriced)
    const { body } = await post({ rules })
    assert.deepEqual([body.rules[0]?.sessions, body.rules[0]?.unseen_sessions], [1, 1])
    assert.deepEqual(body.not_simulated, [
      {
        rule_id: 'max_cost',
        reason: 'no_price',
        sessions: 1,
        requests: 3,
        message: '"max_cost": 3 requests in 1 of 2 sessions have no price and count 0 here. Add m-1 to the price file.',
      },
    ])
  })
  it('is a rule that listens, unless its reply was short and kept, or was heard then', async () => {
    const { live, post, gateway, ask, end } = await startSimulations([contentChant], {
      defaults: [{ rule_type: 'content_chant', threshold: 10, action: 'flag' }],
    })
    await live('ses_quiet', work(3))
    const rules = (threshold: number) => ({ rules: [{ id: 'chant', rule_type: 'content_chant', threshold }] })
    const { body } = await post(rules(10))
    assert.deepEqual(
      [body.rules[0]?.sessions, body.rules[0]?.unseen_sessions, told(body)],
      [0, 1, ['chant: no_reply_text']],
    )
    assert.equal(body.not_simulated[0]?.requests, 3)
    const { rows } = await gateway.storage.find('calls', {})
    for (const { id } of rows)
      await gateway.storage.patch('calls', id, { response_preview: 'All is well.', bytes_out: 300 })
    assert.deepEqual(told((await post(rules(10))).body), [])
    await gateway.storage.patch('calls', rows[0]?.id ?? '', { response_preview: 'I see it here and now. '.repeat(21) })
    assert.equal((await post(rules(3))).body.flagged[0]?.code, 'LOOP_CONTENT')

    const session = newSession({ id: 'ses_chant' })
    await gateway.storage.put('sessions', session.row)
    const asked = call({ session, items: begin })
    const decision = await ask(asked)
    decision.watch?.text('I will read the file once more to see what is wrong with it now. '.repeat(40))
    await end(asked, { ...decision, matches: decision.watch?.matches ?? [] })
    const found = async (threshold: number) =>
      (await post({ ...rules(threshold), session_ids: ['ses_chant'] })).body.flagged.map(({ count }) => count)
    assert.deepEqual([await found(10), await found(8), await found(12)], [[10], [10], []])
  })
  it('is a rule that fails as it listens: a fault, and the others are tried', async () => {
    const broken = {
      ...detecting('broken', () => undefined),
      stream: () => ({
        push: () => {
          throw new Error('out of order')
        },
      }),
    }
    const plugin = { ...broken, apply: (gateway: Gateway) => gateway.detectors.add(broken) }
    const { live, post, gateway, faults } = await startSimulations([plugin])
    await live('ses_short', [begin, begin])
    const [first] = (await gateway.storage.find('calls', {})).rows
    await gateway.storage.patch('calls', first?.id ?? '', { response_preview: 'Yes.', bytes_out: 90 })
    const { body } = await post({ rules: [always('bad', { rule_type: 'broken' }), always('good')] })
    assert.deepEqual([told(body), body.flagged[0]?.rule_id], [['bad: no_reply_text'], 'good'])
    assert.ok(faults.some(({ where }) => where === 'detector:broken'))
  })
  it('is a rule that measures, where none of its type was on', async () => {
    const { live, post } = await startSimulations([noveltyStall])
    await live('ses_one', work(3))
    const { body } = await post({ rules: [{ rule_type: 'novelty_stall', threshold: 2 }] })
    assert.deepEqual(told(body), ['novelty_stall: no_measure'])
    assert.match(body.not_simulated[0]?.message ?? '', /3 requests in 1 of 1 sessions came while no rule of its type/)
  })
  it('is a rule that nothing evaluates, and not one that is off', async () => {
    const { live, post } = await startSimulations()
    await live('ses_one', work(1))
    const { body } = await post({
      rules: [always('odd', { rule_type: 'mine' }), always('off', { rule_type: 'mine', enabled: false })],
    })
    assert.deepEqual(told(body), ['odd: no_detector'])
  })
  it('is what comes after a request that a rule would have changed', async () => {
    const { live, post } = await startSimulations()
    await live(
      'ses_loop',
      growing(6, () => step('read')),
    )
    const rules = [{ rule_type: 'tool_repeat', action: 'steer' }]
    assert.deepEqual(told((await post({ rules, mode: 'enforce' })).body), ['tool_repeat: steers'])
    assert.deepEqual(told((await post({ rules, mode: 'shadow' })).body), [])
  })
})

describe('a simulation of requests that were in progress together', () => {
  it('knows what each had ended as and held when the next one came', async () => {
    const { post, gateway, ask, end, clock } = await startSimulations()
    const session = newSession({ id: 'ses_best', created_at: clock.now(), last_seen_at: clock.now() })
    await gateway.storage.put('sessions', session.row)
    const asked = [1, 2, 3].map((second) => call({ session, items: begin, at: clock.now() + second * 1_000 }))
    const decided = []
    for (const one of asked) decided.push({ one, decision: await ask(one) })
    clock.advance(10_000)
    for (const { one, decision } of decided) await end(one, decision)
    const flagged = async (rule: object) => (await post({ rules: [rule] })).body.flagged.map(({ step: at }) => at)
    assert.deepEqual(await flagged({ rule_type: 'exact_repeat' }), [3])
    assert.deepEqual(await flagged({ rule_type: 'exact_repeat', params: { ignore_in_flight: true } }), [])
    const held = asked[0]?.body.length ?? 0
    const threshold = Math.floor(held / 4)
    assert.deepEqual(await flagged({ rule_type: 'max_tokens', threshold }), [])
    assert.deepEqual(await flagged({ rule_type: 'max_tokens', threshold, params: { reserve: true } }), [2])
  })
})
