import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fastify from 'fastify'
import { errorBody, statusOf } from 'guard-gateway/core'
import type { PolicyOptions } from 'guard-gateway/plugins/policy'
import { Policies } from '../../../plugins/policy/policies.ts'
import { user } from '../../kit/conversation.ts'
import { call } from '../../kit/evidence.ts'
import { defaultRules, newSession, startBench } from './kit.ts'

const start = async (options: PolicyOptions = {}) => {
  const bench = await startBench({ defaults: defaultRules, ...options })
  const app = fastify()
  app.setErrorHandler((error, _request, reply) => reply.code(statusOf(error)).send({ error: errorBody(error) }))
  await bench.gateway.hooks.http.promise(app)
  const get = async (project = 'shop') => (await app.inject({ url: `/api/policies/${project}` })).json()
  const put = async (payload: object, project = 'shop') => {
    const reply = await app.inject({ method: 'PUT', url: `/api/policies/${project}`, payload })
    return { status: reply.statusCode, body: reply.json() }
  }
  return { ...bench, app, get, put }
}

const rule = (over: object = {}) => ({ rule_type: 'exact_repeat', ...over })

describe('reading a policy', () => {
  it('gives the default rules of an unknown project, in their order', async () => {
    const { get } = await start()
    const complete = (rule_type: string, threshold: number, window_size = 0) => ({
      id: rule_type,
      rule_type,
      threshold,
      window_size,
      action: 'block',
      enabled: true,
    })
    assert.deepEqual(await get('never-seen'), {
      project_id: 'never-seen',
      version: 0,
      source: 'default',
      mode: null,
      rules: [
        complete('exact_repeat', 3, 8),
        complete('tool_repeat', 3, 8),
        complete('error_retry', 5),
        complete('sequence_repeat', 3, 15),
        complete('max_requests', 50),
        complete('max_tokens', 100_000),
      ],
      warnings: [],
    })
  })
  it('is one rule for each detector where no default is given', async () => {
    const { get } = await start({ defaults: undefined })
    assert.equal((await get()).rules.length, 6)
  })
  it('refuses a project id of another form', async () => {
    const { app } = await start()
    const reply = await app.inject({ url: '/api/policies/a%20b' })
    assert.deepEqual([reply.statusCode, reply.json().error.code], [400, 'INVALID_REQUEST'])
  })
})

describe('replacing a policy', () => {
  it('takes a list of rules, bare or as a member, and fills in what is left out', async () => {
    const { put, get } = await start()
    const rules = [
      { id: 'exact_repeat', rule_type: 'exact_repeat', threshold: 3, window_size: 8, action: 'block', enabled: true },
      {
        id: 'exact_repeat-2',
        rule_type: 'exact_repeat',
        threshold: 9,
        window_size: 20,
        action: 'flag',
        enabled: false,
        note: 'slow',
      },
    ]
    const sent = [rule(), rule({ threshold: 9, window_size: 20, action: 'flag', enabled: false, note: 'slow' })]
    const first = await put(sent)
    assert.deepEqual([first.status, first.body.version, first.body.source], [200, 1, 'stored'])
    assert.deepEqual(first.body.rules, rules)
    const second = await put({ rules: sent })
    assert.deepEqual([second.body.version, second.body.rules], [2, rules])
    assert.deepEqual(await get(), second.body)
  })
  it('takes back what was read', async () => {
    const { put, get } = await start()
    assert.equal((await put(await get())).status, 200)
  })
  it('leaves rules and mode as they are unless they are given', async () => {
    const { put } = await start()
    await put({ mode: 'enforce' })
    const { body } = await put([rule()])
    assert.deepEqual([body.mode, body.rules.length], ['enforce', 1])
    assert.deepEqual([(await put({ mode: null })).body.mode, (await put({ mode: null })).body.rules.length], [null, 1])
  })
  it('applies to the next request, while those that were judged keep their version', async () => {
    const bench = await start()
    const session = newSession()
    const under = call({ session, items: [user('a')] })
    const judged = await bench.ask(under)
    await bench.put({ mode: 'enforce', rules: [rule({ threshold: 1 })] })
    await bench.end(under, judged)
    assert.deepEqual([judged.decision, judged.policy_version], ['allow', '0'])
    const next = await bench.send(call({ session, items: [user('b')] }))
    assert.deepEqual([next.decision, next.policy_version], ['block', '1'])
    const elsewhere = await bench.send(call({ session: newSession(), project: 'other', items: [user('b')] }))
    assert.equal(elsewhere.decision, 'allow')
  })
  it('takes a preset by name', async () => {
    const { put } = await start({ presets: { strict: [rule({ threshold: 2 })] } })
    assert.equal((await put({ preset: 'strict' })).body.rules[0].threshold, 2)
    const unknown = await put({ preset: 'lax' })
    assert.deepEqual([unknown.status, unknown.body.error.path], [400, '/preset'])
    assert.match(unknown.body.error.message, /there is strict/)
  })
  it('refuses a change that was made for another version', async () => {
    const { put } = await start()
    assert.equal((await put({ rules: [rule()], expected_version: 0 })).status, 200)
    const late = await put({ rules: [rule()], expected_version: 0 })
    assert.deepEqual(
      [late.status, late.body.error.code, late.body.error.type],
      [409, 'VERSION_CONFLICT', 'conflict_error'],
    )
    assert.equal((await put({ rules: [rule()], expected_version: 1 })).body.version, 2)
  })
  it('lets one of several writers win when they expect the same version', async () => {
    const { put } = await start()
    const writers = await Promise.all([1, 2, 3].map(() => put({ rules: [rule()], expected_version: 0 })))
    assert.deepEqual(writers.map((writer) => writer.status).sort(), [200, 409, 409])
    const free = await Promise.all([1, 2, 3].map(() => put({ rules: [rule()] })))
    assert.deepEqual(free.map((writer) => writer.body.version).sort(), [2, 3, 4])
  })
  it('keeps the last fifty versions', async () => {
    const { put, gateway } = await start()
    for (let n = 0; n < 53; n++) await put([rule({ threshold: n + 1 })])
    const { rows } = await gateway.storage.find('policy_versions', { limit: 100 })
    assert.deepEqual([rows.length, rows[0]?.version, rows.at(-1)?.version], [50, 53, 4])
    assert.equal(rows.at(-1)?.rules[0]?.threshold, 4)
  })
  it('survives a restart', async () => {
    const { put, gateway } = await start()
    await put({ mode: 'enforce', rules: [rule()] })
    const later = await new Policies(gateway, defaultRules).load('shop')
    assert.deepEqual([later.version, later.mode, later.rules.length], [1, 'enforce', 1])
  })
})

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
      'wrong params',
      { rules: [{ rule_type: 'tool_repeat', params: { result_aware: 'yes' } }] },
      '/rules/0/params/result_aware',
    ],
    [
      'params out of range',
      { rules: [{ rule_type: 'error_retry', params: { cooldown_seconds: 4 } }] },
      '/rules/0/params/cooldown_seconds',
    ],
    ['an unknown type without a threshold', { rules: [{ rule_type: 'mine' }] }, '/rules/0/threshold'],
  ]
  for (const [what, document, path] of cases) {
    it(`is refused with the path of ${what}`, async () => {
      const { put, get } = await start()
      const { status, body } = await put(document)
      assert.deepEqual([status, body.error.code, body.error.path], [400, 'INVALID_POLICY', path])
      assert.equal((await get()).version, 0)
    })
  }
  it('is told every wrong field at once', async () => {
    const { put } = await start()
    const { body } = await put({ rules: [rule({ threshold: 0, action: 7 })] })
    assert.equal(
      body.error.message,
      '/rules/0/threshold must be an integer from 1 to 1000000000000000, is 0; /rules/0/action must be a text of 1 to 32 characters, is 7.',
    )
  })
  it('stops the start if it is the default', async () => {
    await assert.rejects(startBench({ defaults: [rule({ threshold: 0 })] }), { code: 'INVALID_POLICY' })
    await assert.rejects(startBench({ presets: { odd: [{}] } }), { code: 'INVALID_POLICY' })
  })
})

describe('warnings of a policy', () => {
  const warned = async (...rules: object[]) =>
    (await (await start()).put(rules)).body.warnings.map((one: { code: string; path: string }) => [one.code, one.path])
  it('name a rule that nothing evaluates; it is stored with its params unchecked', async () => {
    const { put, get } = await start()
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
  it('name a budget above a loop rule', async () => {
    assert.deepEqual(await warned({ rule_type: 'max_requests' }, rule()), [['BUDGET_BEFORE_LOOP', '/rules/0']])
    assert.deepEqual(await warned({ rule_type: 'max_requests' }, rule({ enabled: false })), [])
  })
})
