import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Gateway } from 'guard-gateway/core'
import { openPolicies, type Policy } from '../../../../plugins/mcp/policy/index.ts'
import { aCall, openGateway, policyOf } from './kit.ts'

describe('what can be told of a tool before it is called', () => {
  let gateway: Gateway
  before(async () => {
    gateway = await openGateway()
  })
  after(() => gateway.close())
  const of = (rules: readonly object[], more: object = {}): Promise<Policy> => policyOf(gateway, rules, more)
  const rule = (id: string, action: string, more: object = {}) => ({ id, tools: [id], action, ...more })
  const when = { when: { arguments: { required: ['x'] } } }
  const checks = { checks: [{ size: { max_bytes: 9 } }] }

  it('its effect: one word where all calls meet the same, else depends', async () => {
    const policy = await of([
      rule('allowed', 'allow'),
      rule('denied', 'deny'),
      rule('asked', 'confirm'),
      rule('tried', 'shadow_deny'),
      rule('changed', 'transform', { transform: { arguments: [{ remove: '/a' }] } }),
      rule('checked', 'allow', checks),
      rule('asked_checked', 'confirm', { ...checks, on_violation: 'confirm' }),
      rule('sometimes', 'deny', when),
      rule('limited', 'rate_limit', { limit: { calls: 1, per: '1s' } }),
      { id: 'more', tools: ['asked', 'denied', 'checked'], action: 'confirm' },
    ])
    const effects = [
      'allowed',
      'denied',
      'asked',
      'tried',
      'changed',
      'checked',
      'asked_checked',
      'limited',
      'other',
    ].map((tool) => policy.effect('fs', tool, 'known'))
    assert.deepEqual(effects, ['allow', 'deny', 'confirm', 'allow', 'allow', 'depends', 'confirm', 'depends', 'deny'])
    assert.equal(policy.effect('fs', 'sometimes', 'known'), 'deny')
    assert.equal(
      (await of([rule('sometimes', 'deny', when)], { default: 'allow' })).effect('fs', 'sometimes', 'known'),
      'depends',
    )
  })
  it('its effect where its definition is not the trusted one, which pinning may stop or ask about', async () => {
    const rules = [rule('allowed', 'allow'), rule('denied', 'deny'), rule('checked', 'allow', checks)]
    const effects = async (pinning: string, pin: 'known' | 'new' | 'changed') => {
      const policy = await of(rules, { pinning })
      return ['allowed', 'denied', 'checked'].map((tool) => policy.effect('fs', tool, pin))
    }
    assert.deepEqual(await effects('warn', 'changed'), ['allow', 'deny', 'depends'])
    assert.deepEqual(await effects('deny', 'known'), ['allow', 'deny', 'depends'])
    assert.deepEqual(await effects('deny', 'changed'), ['deny', 'deny', 'deny'])
    assert.deepEqual(await effects('confirm', 'new'), ['confirm', 'deny', 'depends'])
  })
  it('whether a call may have to wait for a person', async () => {
    const rules = [
      rule('asked', 'confirm'),
      rule('checked', 'allow', { ...checks, on_violation: 'confirm' }),
      rule('allowed', 'allow'),
      rule('denied', 'deny'),
      { id: 'x', tools: ['denied'], action: 'confirm' },
    ]
    const can = (policy: Policy) =>
      ['asked', 'checked', 'allowed', 'denied', 'other'].map((tool) => policy.canConfirm('fs', tool))
    assert.deepEqual(can(await of(rules)), [true, true, false, false, false])
    assert.deepEqual(can(await of(rules, { default: 'confirm' })), [true, true, false, false, true])
    assert.deepEqual(can(await of(rules, { default: 'allow', pinning: 'confirm' })), [true, true, true, false, true])
    assert.deepEqual(can(await of(rules, { mode: 'shadow' })), [false, false, false, false, false])
  })
  it('whether any call at all may', async () => {
    assert.equal((await of([rule('a', 'allow')])).asks, false)
    assert.equal((await of([rule('a', 'allow')], { default: 'confirm' })).asks, true)
    assert.equal((await of([rule('a', 'allow')], { pinning: 'confirm' })).asks, true)
    assert.equal((await of([rule('a', 'allow', { ...checks, on_violation: 'confirm' })])).asks, true)
    assert.equal((await of([rule('a', 'confirm')], { mode: 'shadow' })).asks, false)
    assert.equal((await of([rule('a', 'confirm', { enabled: false })])).asks, false)
  })
  it('whether it leaves the list: only by an exact, enabled, unconditional denial for this server', async () => {
    const rules = [
      rule('gone', 'deny'),
      rule('elsewhere', 'deny', { servers: ['db'] }),
      rule('conditional', 'deny', when),
      rule('off', 'deny', { enabled: false }),
      rule('tried', 'shadow_deny'),
      { id: 'stars', tools: ['star*'], action: 'deny' },
    ]
    const tools = ['gone', 'elsewhere', 'conditional', 'off', 'tried', 'star', 'star*', 'unknown']
    const hides = (policy: Policy, server = 'fs') => tools.filter((tool) => policy.hidden(server)(tool))
    assert.deepEqual(hides(await of(rules, { hide_denied_tools: true })), ['gone'])
    assert.deepEqual(hides(await of(rules, { hide_denied_tools: true }), 'db'), ['gone', 'elsewhere'])
    assert.deepEqual(hides(await of(rules)), [])
    assert.deepEqual(hides(await of(rules, { hide_denied_tools: true, mode: 'shadow' })), [])
  })
  it('takes from the configuration whether denied tools leave the list, where the policy does not say', async () => {
    for (const [own, hidden] of [
      [undefined, true],
      [true, true],
      [false, false],
    ] as const) {
      const policy = {
        version: 1,
        rules: [rule('gone', 'deny')],
        ...(own === undefined ? {} : { hide_denied_tools: own }),
      }
      const policies = await openPolicies(gateway, { policy, hide_denied_tools: true, fault: gateway.fault })
      assert.equal((await policies.current()).hidden('fs')('gone'), hidden)
    }
  })
  it('counts a call that a person let through when it is taken, not when it is asked about', async () => {
    const policy = await of([
      rule('t', 'rate_limit', { limit: { calls: 1, per: '1m' } }),
      { id: 'ask', tools: ['t'], action: 'confirm' },
    ])
    const call = aCall('t', {}, { session_id: 'mcp_take' })
    for (let asked = 0; asked < 3; asked++) assert.equal((await policy.judge(call, [])).action, 'confirm')
    assert.equal(await policy.take(call), undefined)
    assert.deepEqual(await policy.take(call), {
      rule_id: 't',
      action: 'rate_limit',
      limit: { text: '1 call per 1m', retry_after_seconds: 60 },
    })
    assert.equal((await policy.judge(call, [])).action, 'rate_limit')
    assert.equal(await policy.take(aCall('other')), undefined)
  })
  it('counts in shadow as in enforce, so that the audit shows what would have been stopped', async () => {
    const policy = await of([rule('t', 'rate_limit', { limit: { calls: 2, per: '1m' } })], { mode: 'shadow' })
    const call = aCall('t', {}, { session_id: 'mcp_shadow' })
    const actions: string[] = []
    for (let made = 0; made < 4; made++) actions.push((await policy.judge(call, [])).action)
    assert.deepEqual(actions, ['allow', 'allow', 'rate_limit', 'rate_limit'])
  })
})
