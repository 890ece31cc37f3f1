import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Gateway } from 'guard-gateway/core'
import { type Caller, nobody } from '../../../../plugins/mcp/judge/tool-call.ts'
import { validatePolicy } from '../../../../plugins/mcp/policy/validate.ts'
import { aCall, openGateway, policyOf } from './kit.ts'

const ci: Caller = { agent: 'ci', project: 'shop', session: 'night-7', client: 'claude-code', key: ['akey_1', 'build'] }

describe('rules that know who asks', () => {
  let gateway: Gateway
  before(async () => {
    gateway = await openGateway()
  })
  after(() => gateway.close())

  const rule = (when: object, more: object = {}) => ({ id: 'r', tools: ['t'], action: 'allow', when, ...more })
  const judged = async (when: object, caller: Caller | undefined, args: object = {}) => {
    const policy = await policyOf(gateway, [rule(when)])
    return (await policy.judge(aCall('t', args, caller === undefined ? {} : { caller }), [])).action
  }

  const names = { agents: 'ci', projects: 'shop', sessions: 'night-7', clients: 'claude-code', keys: 'akey_1' }
  for (const [list, name] of Object.entries(names)) {
    it(`${list}: by the exact name or a pattern, and never one that is not known`, async () => {
      assert.equal(await judged({ [list]: ['other', name] }, ci), 'allow')
      assert.equal(await judged({ [list]: [`${name.slice(0, 2)}*`] }, ci), 'allow')
      assert.equal(await judged({ [list]: [name.slice(0, -1), name.toUpperCase(), `${name}x`] }, ci), 'deny')
      assert.equal(await judged({ [list]: ['*', 'null'] }, nobody), 'deny')
      assert.equal(await judged({ [list]: ['*'] }, undefined), 'deny')
      assert.equal(
        await judged({ [list]: ['*'] }, { ...nobody, client: '', key: [''], agent: '', project: '', session: '' }),
        'allow',
      )
    })
  }
  it('by the name of a key as well as by its id', async () => {
    assert.equal(await judged({ keys: ['build'] }, ci), 'allow')
    assert.equal(await judged({ keys: ['akey_2'] }, ci), 'deny')
  })
  it('only where everything that is given holds, arguments too', async () => {
    const when = { agents: ['ci'], clients: ['claude*'], arguments: { required: ['x'] } }
    assert.equal(await judged(when, ci, { x: 1 }), 'allow')
    assert.equal(await judged(when, ci), 'deny')
    assert.equal(await judged(when, { ...ci, client: 'codex' }, { x: 1 }), 'deny')
    assert.equal(await judged(when, { ...ci, agent: null }, { x: 1 }), 'deny')
  })
  it('need one condition at least, of those there are', async () => {
    const errors = async (when: object) =>
      (await validatePolicy(gateway, { value: { version: 1, rules: [rule(when)] } })).errors.map(
        ({ message }) => message,
      )
    assert.match(
      String(await errors({})),
      /must not be empty; there is arguments, agents, projects, sessions, clients, keys/,
    )
    assert.match(String(await errors({ agent: ['ci'] })), /unknown key "agent"; did you mean "agents"\?/)
    assert.match(String(await errors({ agents: [] })), /must not be empty/)
    assert.match(String(await errors({ agents: 'ci' })), /must be a list/)
  })
  it('put on record who asked, where a rule about the tool is about that', async () => {
    const policy = await policyOf(gateway, [rule({ agents: ['ci'] }), { id: 'all', tools: ['other'], action: 'allow' }])
    assert.deepEqual((await policy.judge(aCall('t', {}, { caller: ci }), [])).caller, ci)
    assert.deepEqual((await policy.judge(aCall('t'), [])).caller, nobody)
    assert.equal((await policy.judge(aCall('other', {}, { caller: ci }), [])).caller, undefined)
  })

  const limited = async (key: string, ...callers: readonly Caller[]) => {
    const limit = { calls: 1, per: '1h', key }
    const policy = await policyOf(gateway, [{ id: `by-${key}`, tools: ['t'], action: 'rate_limit', limit }])
    const actions: string[] = []
    for (const [at, caller] of callers.entries())
      actions.push(
        (await policy.judge(aCall('t', {}, { caller, session_id: `mcp_${at}`, server_id: `s${at}` }), [])).action,
      )
    return actions
  }
  for (const [key, other] of [
    ['agent', { ...ci, agent: 'b' }],
    ['project', { ...ci, project: 'b' }],
    ['client', { ...ci, client: 'b' }],
    ['key', { ...ci, key: ['akey_2', 'build'] }],
  ] as const) {
    it(`limit calls of one ${key}, whatever its sessions; callers that are not known share one limit`, async () => {
      assert.deepEqual(await limited(key, ci, ci, other, nobody, nobody), [
        'allow',
        'rate_limit',
        'allow',
        'allow',
        'rate_limit',
      ])
    })
  }

  it('hide and ask for those alone that they speak to', async () => {
    const policy = await policyOf(
      gateway,
      [
        { id: 'gone', tools: ['gone'], action: 'deny', when: { agents: ['ci'] } },
        { id: 'asks', tools: ['asks'], action: 'confirm', when: { clients: ['codex'] } },
        { id: 'maybe', tools: ['maybe'], action: 'deny', when: { agents: ['ci'], arguments: { required: ['x'] } } },
      ],
      { hide_denied_tools: true, default: 'allow' },
    )
    const seen = (caller?: Caller) =>
      ['gone', 'maybe', 'asks'].map((tool) => [
        policy.hidden('fs', caller)(tool),
        policy.canConfirm('fs', tool, caller),
      ])
    const codex = { ...ci, agent: 'other', client: 'codex' }
    for (let again = 0; again < 2; again++) {
      assert.deepEqual(seen(ci), [
        [true, false],
        [false, false],
        [false, false],
      ])
      assert.deepEqual(seen(codex), [
        [false, false],
        [false, false],
        [false, true],
      ])
      assert.deepEqual(seen(), [
        [false, false],
        [false, false],
        [false, false],
      ])
    }
    assert.deepEqual([policy.audience(ci), policy.audience(codex), policy.audience(nobody)], ['101', '010', '000'])
    assert.equal(policy.effect('fs', 'gone', 'known'), 'depends')
    assert.equal((await policyOf(gateway, [])).audience(ci), '')
  })

  it('are tested by calls that say who asks', async () => {
    const rules = [
      rule({ agents: ['ci'], projects: ['shop'], sessions: ['n*'], clients: ['claude*'], keys: ['build'] }),
    ]
    const call = { tool: 't', agent: 'ci', project: 'shop', session: 'night', client: 'claude-code', key: 'build' }
    const less = Object.keys(call)
      .filter((name) => name !== 'tool')
      .map((name) => ({ call: { ...call, [name]: 'other' }, expect: 'deny', rule: 'default' }))
    const tests = [{ call, expect: 'allow', rule: 'r' }, { call: { tool: 't' }, expect: 'deny' }, ...less]
    const { valid, tests: results, errors } = await validatePolicy(gateway, { value: { version: 1, rules, tests } })
    assert.deepEqual([valid, errors, results.length], [true, [], 7])
  })

  const warnings = async (more: object, keys?: readonly string[]) => {
    const value = { version: 1, rules: [{ id: 'r', tools: ['t'], ...more }] }
    const facts = keys === undefined ? {} : { keys: new Set(keys) }
    const found = (await validatePolicy(gateway, { value }, facts)).warnings
    return found.map(({ code, path }) => `${code} ${path}`)
  }
  it('earn a warning where a client gets what it wants by what it calls itself', async () => {
    const limit = { calls: 1, per: '1s' }
    const declared = ['CALLER_SELF_DECLARED /rules/0/when/clients']
    assert.deepEqual(await warnings({ action: 'allow', when: { clients: ['a'] } }), declared)
    assert.deepEqual(await warnings({ action: 'rate_limit', limit, when: { clients: ['a'] } }), declared)
    assert.deepEqual(await warnings({ action: 'allow', when: { sessions: ['a'], projects: ['b'] } }), [
      'CALLER_SELF_DECLARED /rules/0/when/projects',
    ])
    assert.deepEqual(await warnings({ action: 'allow', when: { clients: ['a'], keys: ['k'] } }), [])
    assert.deepEqual(await warnings({ action: 'allow', when: { agents: ['a'] } }), [])
    assert.deepEqual(await warnings({ action: 'confirm', when: { clients: ['a'] } }), [])
    assert.deepEqual(await warnings({ action: 'deny', when: { agents: ['x'], clients: ['a'] } }), [
      'WHEN_ON_DENY /rules/0/when/clients',
    ])
    assert.deepEqual(await warnings({ action: 'deny', when: { agents: ['x'] } }), [])
    assert.deepEqual(await warnings({ action: 'rate_limit', limit: { ...limit, key: 'client' } }), [
      'LIMIT_SELF_DECLARED /rules/0/limit/key',
    ])
    assert.deepEqual(await warnings({ action: 'rate_limit', limit: { ...limit, key: 'agent' } }), [])
  })
  it('earn a warning for a name that no key has, where the keys are known', async () => {
    const when = { keys: ['build', 'bild', 'b*', 'gateway'] }
    assert.deepEqual(await warnings({ action: 'allow', when }, ['build', 'gateway']), [
      'KEY_UNKNOWN /rules/0/when/keys/1',
    ])
    assert.deepEqual(await warnings({ action: 'allow', when }), [])
  })
})
