import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { noUsage } from 'guard-gateway/core'
import { maxCost } from 'guard-gateway/plugins/detectors/max-cost'
import { restartLoop } from 'guard-gateway/plugins/detectors/restart-loop'
import { begin, growing, startSimulations } from './kit.ts'

const HOUR = 3_600_000

const tokens = (total_tokens: number, cache_read_tokens = 0) => ({
  usage: { ...noUsage, input_tokens: total_tokens - cache_read_tokens, cache_read_tokens, total_tokens },
  cost: { cost_micro: total_tokens * 10, cost_source: 'priced', price_version: '1' } as const,
})

describe('rules that look beyond a session, on stored requests', () => {
  it('count what the whole project had used by then, in its period', async () => {
    const { live, post, clock } = await startSimulations([maxCost], { time_zone: 'UTC' })
    await live(
      'ses_1',
      growing(3, () => []),
      tokens(100),
    )
    await live(
      'ses_2',
      growing(3, () => []),
      tokens(100),
    )
    clock.advance(HOUR)
    await live(
      'ses_3',
      growing(3, () => []),
      tokens(100),
    )
    const rules = [
      { id: 'requests', rule_type: 'max_requests', threshold: 4, params: { scope: 'project', per: 'hour' } },
      { id: 'cost', rule_type: 'max_cost', threshold: 5000, params: { scope: 'project', per: 'day' } },
      {
        id: 'tokens',
        rule_type: 'max_tokens',
        threshold: 1,
        params: { scope: 'agent', per: 'minute' },
        enabled: false,
      },
    ]
    const { body } = await post({ rules, mode: 'enforce' })
    const told = body.flagged.map(({ session_id, rule_id, step, message }) => [session_id, rule_id, step, message])
    assert.deepEqual(told.sort(), [
      ['ses_2', 'requests', 2, 'the project has sent 4 of 4 requests this hour; the next hour begins at 13:00 UTC'],
      [
        'ses_3',
        'cost',
        1,
        'the project has cost 0.006000 of 0.005000 today; the next day begins at 2026-03-02 00:00 UTC',
      ],
    ])
    assert.deepEqual(
      body.rules.map(({ rule_id, sessions }) => [rule_id, sessions]),
      [
        ['requests', 1],
        ['cost', 2],
      ],
    )
    assert.deepEqual(body.not_simulated, [])
  })
  it('weigh tokens from a cache, in a session and beyond it', async () => {
    const { live, post } = await startSimulations([], { time_zone: 'UTC' })
    await live(
      'ses_1',
      growing(4, () => []),
      tokens(1000, 900),
    )
    const step = async (params: object) =>
      (await post({ rules: [{ rule_type: 'max_tokens', threshold: 500, params }] })).body.flagged[0]?.step
    assert.equal(await step({}), 2)
    assert.equal(await step({ cache_weight: 0.1 }), 4)
    assert.equal(await step({ cache_weight: 0.1, scope: 'agent', per: 'week' }), 4)
    assert.equal(await step({ cache_weight: 0, scope: 'thread' }), undefined)
  })
  it('find starts without new work, where they were noted', async () => {
    const noting = { defaults: [{ rule_type: 'restart_loop', threshold: 32 }], time_zone: 'UTC' }
    const { gateway, live, post } = await startSimulations([restartLoop], noting)
    gateway.hooks.request.tap('test', (call) => {
      Object.assign(call, { envelope: { ...call.envelope, tools: [{ name: 'read_file' }] } })
    })
    for (let n = 0; n < 7; n++) await live(`ses_${n}`, [[...begin]], tokens(10))
    const { body } = await post({ rules: [{ rule_type: 'restart_loop' }] })
    assert.deepEqual(body.flagged.map(({ session_id, count }) => [session_id, count]).sort(), [
      ['ses_5', 5],
      ['ses_6', 6],
    ])
    const plain = await startSimulations([restartLoop])
    await plain.live('ses_1', [[...begin]])
    const told = (await plain.post({ rules: [{ rule_type: 'restart_loop' }] })).body.not_simulated
    assert.deepEqual(
      told.map(({ reason, requests }) => [reason, requests]),
      [['no_measure', 1]],
    )
  })
})
