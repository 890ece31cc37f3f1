import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { maxCost } from 'guard-gateway/plugins/detectors/max-cost'
import { type Item, step, system, user } from '../../../kit/conversation.ts'
import { call } from '../../../kit/evidence.ts'
import { busy, newSession, restarted, startBench } from '../kit.ts'

const begin: Item[] = [system('s'), user('fix it')]

describe('reserve', () => {
  const held = (rule_type: string, threshold: number, reserve: boolean, scope = 'session') => ({
    id: `${rule_type} ${reserve} ${scope}`.replaceAll(' ', '-'),
    rule_type,
    threshold,
    params: { reserve, scope },
  })
  it('lets max_requests count those in progress, and not those that failed', async () => {
    const rules = ['session', 'thread'].flatMap((scope) => [
      held('max_requests', 3, false, scope),
      held('max_requests', 3, true, scope),
    ])
    const bench = await startBench({ defaults: rules })
    const session = newSession()
    const request = (n: number, known = session) => call({ session: known, items: [...begin, ...step('a', { n })] })
    const told = (matches: readonly { rule_id: string; count?: number }[]) =>
      matches.map(({ rule_id, count }) => `${rule_id} ${count}`)
    for (const n of [1, 2]) await bench.send(request(n), busy)
    const open = request(3)
    const third = await bench.ask(open)
    assert.deepEqual(told(third.matches), [])
    const fourth = await bench.send(request(4))
    assert.deepEqual(told(fourth.matches), ['max_requests-false-session 3'])
    await bench.end(open, third)
    const fifth = await bench.send(request(5))
    assert.deepEqual(told(fifth.matches), ['max_requests-false-session 4'])
    const sixth = await bench.send(request(6, restarted(session)))
    assert.deepEqual(told(sixth.matches), ['max_requests-false-session 5', 'max_requests-true-session 3'])
    assert.match(sixth.matches[1]?.message ?? '', /has sent 3 of 3 requests, 2 that failed not counted/)
  })
  it('lets max_tokens and max_cost count requests in progress by estimate, until they end', async () => {
    const bench = await startBench(
      {
        defaults: [
          held('max_tokens', 400, false),
          held('max_tokens', 400, true),
          held('max_cost', 4000, false),
          held('max_cost', 4000, true),
        ],
      },
      [maxCost],
    )
    const session = newSession()
    const spent = { cost: { cost_micro: 300, cost_source: 'priced', price_version: '1' } } as const
    const request = (max_tokens: number) =>
      call({ session, envelope: { max_tokens }, items: [...begin, ...step('a', { max_tokens })] })
    await bench.send(request(1), spent)
    session.row.cost_micro = 300
    const open = request(400)
    const under = await bench.ask(open)
    assert.deepEqual(under.matches, [])
    const next = await bench.send(request(2), spent)
    assert.deepEqual(
      next.matches.map(({ rule_id }) => rule_id),
      ['max_tokens-true-session', 'max_cost-true-session'],
    )
    await bench.end(open, under, spent)
    assert.deepEqual((await bench.send(request(3), spent)).matches, [])
  })
})

describe('a rule about cost', () => {
  it('notes requests that it cannot count, and says how many when it speaks', async () => {
    const bench = await startBench({ defaults: [{ id: 'money', rule_type: 'max_cost', threshold: 500 }] }, [maxCost])
    const session = newSession()
    const request = () => call({ session, items: [...begin, ...step('a', { n: session.row.requests })] })
    const unpriced = { cost: { cost_micro: 0, cost_source: 'unpriced', price_version: null } } as const
    const priced = { cost: { cost_micro: 600, cost_source: 'priced', price_version: '1' } } as const
    const first = request()
    await bench.send(first, unpriced)
    assert.deepEqual(first.notes.unpriced_rules, ['money'])
    const { rows } = await bench.gateway.storage.find('calls', {})
    assert.deepEqual(rows[0]?.notes, { unpriced_rules: ['money'] })
    const second = request()
    await bench.send(second, priced)
    assert.equal(second.notes.unpriced_rules, undefined)
    session.row.cost_micro = 600
    const again = { ...request(), session: restarted(session) }
    for (const asked of [request(), again])
      assert.match(
        (await bench.send(asked, priced)).message,
        /^the session has cost 0\.000600 of 0\.000500; 1 request without a price not counted$/,
      )
  })
})
