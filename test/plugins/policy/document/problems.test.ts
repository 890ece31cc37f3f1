import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { maxCost } from 'guard-gateway/plugins/detectors/max-cost'
import { call } from '../../../kit/evidence.ts'
import { newSession, startApi, startBench } from '../kit.ts'

const rule = (over: object = {}) => ({ rule_type: 'exact_repeat', ...over })

const daily = (params: object) => ({ rule_type: 'max_tokens', threshold: 1000, params })

describe('a policy that cannot be used', () => {
  const cases: readonly (readonly [what: string, document: object, path: string])[] = [
    ['no rules', { rules: [] }, '/rules'],
    ['too many rules', { rules: Array.from({ length: 65 }, () => rule()) }, '/rules'],
    ['rules that are none', { rules: 'all' }, '/rules'],
    ['nothing', {}, ''],
    ['a rule that is none', [7], '/0'],
    ['a rule without a type', { rules: [{ threshold: 3 }] }, '/rules/0/rule_type'],
    ['a doubled id', { rules: [rule({ id: 'a' }), rule({ id: 'a' })] }, '/rules/1/id'],
    ['an id of another form', { rules: [rule({ id: 'a b' })] }, '/rules/0/id'],
    ['a threshold of zero', { rules: [rule(), rule({ threshold: 0 })] }, '/rules/1/threshold'],
    ['a threshold beyond all numbers', { rules: [rule({ threshold: 2e15 })] }, '/rules/0/threshold'],
    ['a threshold as text', { rules: [rule({ threshold: '3' })] }, '/rules/0/threshold'],
    ['a window too large', { rules: [rule({ window_size: 1001 })] }, '/rules/0/window_size'],
    ['an empty action', { rules: [rule({ action: '' })] }, '/rules/0/action'],
    ['an enabled that is neither', { rules: [rule({ enabled: 1 })] }, '/rules/0/enabled'],
    ['a field that rules do not have', { rules: [rule({ treshold: 3 })] }, '/rules/0/treshold'],
    ['a member that policies do not have', { rules: [rule()], modus: 'x' }, '/modus'],
    ['another mode', { mode: 'strict' }, '/mode'],
    ['rules beside a preset', { preset: 'a', rules: [rule()] }, '/preset'],
    ['a version that is none', { rules: [rule()], expected_version: 'x' }, '/expected_version'],
    ['params where there are none', { rules: [rule({ params: { x: 1 } })] }, '/rules/0/params/x'],
    ['unknown params', { rules: [{ rule_type: 'tool_repeat', params: { scope: 'thread' } }] }, '/rules/0/params/scope'],
    [
      'a number that JSON does not keep in params of another type',
      { rules: [{ rule_type: 'later', threshold: 1, params: { list: [{ n: 2 ** 60 }] } }] },
      '/rules/0/params/list/0/n',
    ],
    [
      'wrong params',
      { rules: [{ rule_type: 'tool_repeat', params: { result_aware: 'yes' } }] },
      '/rules/0/params/result_aware',
    ],
    [
      'params out of range',
      { rules: [{ rule_type: 'error_retry', params: { cooldown_seconds: 4 } }] },
      '/rules/0/params/cooldown_seconds',
    ],
    ['a param of another rule', { rules: [rule({ params: { reserve: true } })] }, '/rules/0/params/reserve'],
    [
      'a param that does nothing without another',
      { rules: [{ rule_type: 'tool_repeat', params: { mutating_tools: ['edit*'] } }] },
      '/rules/0/params/mutating_tools',
    ],
    ['a period without the scope of one', { rules: [daily({ scope: 'session', per: 'day' })] }, '/rules/0/params/per'],
    ['a scope that needs a period', { rules: [daily({ scope: 'project' })] }, '/rules/0/params/per'],
    ['another period', { rules: [daily({ scope: 'project', per: 'year' })] }, '/rules/0/params/per'],
    [
      'a budget of nothing',
      { rules: [{ ...daily({ scope: 'project', per: 'day' }), threshold: 0 }] },
      '/rules/0/threshold',
    ],
    ['a weight beyond one', { rules: [daily({ cache_weight: 1.5 })] }, '/rules/0/params/cache_weight'],
    ['an unknown type without a threshold', { rules: [{ rule_type: 'mine' }] }, '/rules/0/threshold'],
  ]
  for (const [what, document, path] of cases) {
    it(`is refused with the path of ${what}`, async () => {
      const { put, get } = await startApi()
      const { status, body } = await put(document)
      assert.deepEqual([status, body.error.code, body.error.path], [400, 'INVALID_POLICY', path])
      assert.equal((await get()).version, 0)
    })
  }
  it('is told every wrong field at once', async () => {
    const { put } = await startApi()
    const { body } = await put({ rules: [rule({ threshold: 0, action: 7 })] })
    assert.equal(
      body.error.message,
      '/rules/0/threshold must be an integer from 1 to 1000000000000000, is 0; /rules/0/action must be a text of 1 to 32 characters, is 7.',
    )
  })
  it('is told why a period and a scope do not go together, and which there are', async () => {
    const { put } = await startApi()
    const told = async (params: object) => (await put({ rules: [daily(params)] })).body.error.message
    assert.equal(
      await told({ scope: 'agent' }),
      '/rules/0/params/per is missing: with scope "agent" it says when the budget starts over; there is minute, hour, day, week, month.',
    )
    assert.equal(
      await told({ per: 'day' }),
      '/rules/0/params/per cannot be "day" with scope "session", which is one budget from its beginning to its end; leave it out, or set scope to agent or project.',
    )
    assert.equal(
      await told({ scope: 'galaxy', per: 'day' }),
      '/rules/0/params/scope must be one of session, thread, agent, project.',
    )
  })
  it('is told what a param needs beside it', async () => {
    const { put } = await startApi()
    const { body } = await put([{ rule_type: 'tool_repeat', params: { repeated_edits: true } }])
    assert.equal(body.error.message, '/0/params/repeated_edits does nothing without result_aware.')
  })
  it('is told which detectors there are where a rule of none says no threshold', async () => {
    const { put } = await startApi()
    const { body } = await put([{ rule_type: 'mine' }])
    assert.match(body.error.message, /^\/0\/threshold is missing, and .*"mine" with a default; there is .*exact_repeat/)
  })
  it('stops the start if it is the default', async () => {
    await assert.rejects(startBench({ defaults: [rule({ threshold: 0 })] }), { code: 'INVALID_POLICY' })
    await assert.rejects(startBench({ presets: { odd: [{}] } }), { code: 'INVALID_POLICY' })
  })
})

describe('warnings of a policy', () => {
  const warned = async (...rules: object[]) =>
    (await (await startApi()).put(rules)).body.warnings.map((one: { code: string; path: string }) => [
      one.code,
      one.path,
    ])
  it('name a rule that nothing evaluates; it is stored with its params unchecked', async () => {
    const { put, get } = await startApi()
    const mine = {
      id: 'm',
      rule_type: 'mine',
      threshold: 3,
      window_size: 0,
      action: 'block',
      enabled: true,
      params: { any: [1] },
    }
    assert.equal((await put([mine])).body.warnings[0].code, 'NO_EVALUATOR')
    assert.deepEqual((await get()).rules, [mine])
  })
  it('name a threshold that no window can hold', async () => {
    assert.deepEqual(await warned(rule({ threshold: 9 })), [['UNREACHABLE', '/rules/0/threshold']])
    assert.deepEqual(await warned({ rule_type: 'sequence_repeat', threshold: 8 }), [
      ['UNREACHABLE', '/rules/0/threshold'],
    ])
    assert.deepEqual(await warned({ rule_type: 'sequence_repeat', threshold: 7 }), [])
  })
  it('name an action that there is not, misspelt for example', async () => {
    for (const action of ['Block', 'log']) {
      const [warning] = (await (await startApi()).put([rule({ action })])).body.warnings
      assert.deepEqual([warning.code, warning.path], ['UNKNOWN_ACTION', '/rules/0/action'])
      assert.match(warning.message, /"\w+" is no action: the rule flags .*There is block, flag, pause, steer\./)
    }
    for (const action of ['block', 'flag', 'pause', 'steer']) assert.deepEqual(await warned(rule({ action })), [])
  })
  it('name a budget above a loop rule', async () => {
    assert.deepEqual(await warned({ rule_type: 'max_requests' }, rule()), [['BUDGET_BEFORE_LOOP', '/rules/0']])
    assert.deepEqual(await warned({ rule_type: 'max_requests' }, rule({ enabled: false })), [])
  })
  it('name a rule about cost where nothing has a price, and the models that have none', async () => {
    const { gateway, put, send } = await startApi({}, [maxCost])
    const costly = [{ rule_type: 'max_cost' }]
    const said = async () => (await put(costly)).body.warnings as { code: string; path: string; message: string }[]
    const [none] = await said()
    assert.deepEqual([none?.code, none?.path], ['UNPRICED', '/rules/0'])
    assert.match(none?.message ?? '', /^No model has a price, so that every request costs 0 and the rule never matches/)
    gateway.health.set('pricing', () => ({ status: 'ok', models: 3 }))
    assert.deepEqual(await said(), [])
    await send(call({ session: newSession() }), {
      cost: { cost_micro: 0, cost_source: 'unpriced', price_version: 'a' },
    })
    const [some] = await said()
    assert.match(some?.message ?? '', /^There is no price for m-1: their requests cost 0 in this rule/)
    assert.deepEqual((await put([{ ...costly[0], enabled: false }])).body.warnings, [])
  })
})
