import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Gateway } from 'guard-gateway/core'
import type { ToolCall } from '../../../../plugins/mcp/judge/tool-call.ts'
import type { Verdict } from '../../../../plugins/mcp/judge/verdict.ts'
import { type JudgedTool, openPolicies } from '../../../../plugins/mcp/policy/index.ts'
import { aCall, openGateway, policyOf } from './kit.ts'

describe('arguments of a judged call', () => {
  let gateway: Gateway
  before(async () => {
    gateway = await openGateway()
  })
  after(() => gateway.close())

  const judged = async (
    rules: readonly object[],
    call: ToolCall,
    more: object = {},
    validate?: NonNullable<JudgedTool['validate']>,
  ): Promise<Verdict> => (await policyOf(gateway, rules, more)).judge(call, [], validate && { validate })
  const rule = (id: string, action: string, more: object = {}) => ({ id, tools: ['t'], action, ...more })
  const set = (value: unknown) => ({ transform: { arguments: [{ set: { '/a': value } }] } })
  const bad = { checks: [{ words: { args: ['/a'], bad: ['bad'] } }] }

  describe('that are changed', () => {
    it('by all rules that change them, in file order', async () => {
      const rules = [rule('one', 'transform', set('1')), rule('two', 'transform', set('2')), rule('ok', 'allow')]
      const { action, sent } = await judged(rules, aCall('t', { a: '0', b: 1 }))
      assert.equal(action, 'transform')
      assert.deepEqual(sent, { text: '{"a":"2","b":1}', arguments: { a: '2', b: 1 } })
    })
    it('with a question too, which shows what a yes sends', async () => {
      const rules = [rule('set', 'transform', set('x')), rule('ask', 'confirm', { message: 'Sends {arguments.a}' })]
      const { action, sent, winners } = await judged(rules, aCall('t', { a: 'y' }))
      assert.deepEqual([action, sent?.text, winners[0]?.message], ['confirm', '{"a":"x"}', 'Sends x'])
    })
    it('never in shadow', async () => {
      const { action, mode, sent } = await judged([rule('set', 'transform', set('x'))], aCall('t', { a: 'y' }), {
        mode: 'shadow',
      })
      assert.deepEqual([action, mode, sent], ['transform', 'shadow', undefined])
    })
    it('never for a call that is denied', async () => {
      const { sent } = await judged([rule('set', 'transform', set('x')), rule('no', 'deny')], aCall('t', { a: 'y' }))
      assert.equal(sent, undefined)
    })
    it('are not sent again where nothing changed', async () => {
      const { action, sent } = await judged([rule('set', 'transform', set('x'))], aCall('t', { a: 'x' }))
      assert.deepEqual([action, sent], ['transform', undefined])
    })
    it('go through the checks of all rules that spoke once more; an objection denies', async () => {
      const rules = [rule('set', 'transform', set('bad')), rule('ok', 'allow', { ...bad, on_violation: 'confirm' })]
      const verdict = await judged(rules, aCall('t', { a: 'good' }))
      assert.deepEqual(
        [verdict.action, verdict.winners[0]?.rule_id, verdict.winners[0]?.reason],
        ['deny', 'ok', '/a says bad'],
      )
      assert.equal(verdict.sent, undefined)
    })
    it('are not denied for what a rule had found before: it still asks, or tries out', async () => {
      const checks = [{ words: { args: ['/a', '/b'], bad: ['bad'] } }]
      for (const [on_violation, a, expected, sent] of [
        ['confirm', 'x', 'confirm', '{"a":"x","b":"bad"}'],
        ['shadow_deny', 'x', 'transform', '{"a":"x","b":"bad"}'],
        ['shadow_deny', 'bad', 'deny', undefined],
      ] as const) {
        const rules = [rule('set', 'transform', set(a)), rule('ok', 'allow', { checks, on_violation })]
        const verdict = await judged(rules, aCall('t', { a: 'good', b: 'bad' }))
        assert.deepEqual([verdict.action, verdict.sent?.text], [expected, sent], `${on_violation} ${a}`)
        assert.equal(verdict.findings[0]?.pointer, expected === 'deny' ? '/a' : '/b')
      }
    })
    it('must still fit the schema of the tool', async () => {
      const validate: JudgedTool['validate'] = ({ a }) => (typeof a === 'string' ? undefined : '/a must be string')
      const verdict = await judged([rule('set', 'transform', set(1))], aCall('t', { a: 'x' }), {}, validate)
      assert.deepEqual(
        [verdict.action, verdict.winners[0]?.reason],
        ['deny', 'the changed arguments are invalid: /a must be string'],
      )
      assert.equal((await judged([rule('set', 'transform', set('y'))], aCall('t'), {}, validate)).action, 'transform')
    })
  })

  describe('whose keys look like those that a rule speaks of', () => {
    it('are denied, whatever the rule says, beside the key and in its place', async () => {
      const rules = [rule('r', 'allow', { ...bad, on_violation: 'shadow_deny' })]
      for (const key of ['A', 'ａ', 'a\u200b', 'a\u0000']) {
        for (const args of [{ a: 'x', [key]: 'bad' }, { [key]: 'bad' }]) {
          const { action, findings } = await judged(rules, aCall('t', args))
          assert.equal(action, 'deny', JSON.stringify(key))
          assert.equal(findings[0]?.reason, 'looks like the argument "a" and is another one')
        }
      }
    })
    it('also those that a condition, a change or a deeper pointer names', async () => {
      const condition = { when: { arguments: { properties: { o: { properties: { key: { const: 1 } } } } } } }
      const deep = { checks: [{ words: { args: ['/list/*/key'], bad: ['x'] } }] }
      const calls: readonly (readonly [object, object])[] = [
        [rule('w', 'allow', condition), { O: 1 }],
        [rule('w', 'allow', condition), { o: { KEY: 1 } }],
        [rule('w', 'allow', { when: { arguments: { required: ['key'] } } }), { Key: 1 }],
        [rule('w', 'allow', { when: { arguments: { dependentRequired: { key: ['k2'] } } } }), { K2: 1 }],
        [
          rule('w', 'allow', { when: { arguments: { anyOf: [{ items: {} }, { properties: { key: {} } }] } } }),
          { KEY: 1 },
        ],
        [rule('s', 'transform', { transform: { arguments: [{ remove: '/key' }] } }), { KEY: 1 }],
        [rule('c', 'allow', deep), { list: [{ key: 'y' }, { Key: 'y' }] }],
        [rule('c', 'allow', deep), { list: { any: { KEY: 'y' } } }],
        [rule('c', 'allow', deep), { LIST: [] }],
      ]
      for (const [one, args] of calls) {
        const { action, findings } = await judged([one], aCall('t', args))
        assert.deepEqual([action, findings[0]?.check], ['deny', 'arguments'], JSON.stringify(args))
      }
    })
    it('and no others: not elsewhere, not of other tools, not the key itself', async () => {
      const other = { id: 'o', tools: ['u'], action: 'allow', checks: [{ words: { args: ['/zz'], bad: ['x'] } }] }
      const rules = [rule('r', 'allow', bad), other]
      for (const more of [{ b: 1 }, { inner: { A: 1 } }, { ZZ: 1 }, { aa: 1, AA: 2 }, { ä: 1 }, { list: [{ A: 1 }] }]) {
        assert.equal((await judged(rules, aCall('t', { a: 'x', ...more }))).action, 'allow', JSON.stringify(more))
      }
    })
  })

  describe('in what is shown', () => {
    const message = async (text: string, args: object): Promise<string | undefined> =>
      (await judged([rule('r', 'confirm', { message: text })], aCall('t', args))).winners[0]?.message
    it('stand in the place of {arguments.key}', async () => {
      assert.equal(await message('{arguments.from} to {arguments.to}', { from: 'a', to: { b: [1] } }), 'a to {"b":[1]}')
      assert.equal(await message('{arguments.x} {arguments.constructor} {x}', {}), '(none) (none) {x}')
    })
    it('are cut at 200 characters, on one line, and cannot bring places of their own', async () => {
      assert.equal(await message('{arguments.a}', { a: 'x'.repeat(500) }), `${'x'.repeat(199)}…`)
      assert.equal(await message('{arguments.a}', { a: 'one\ntwo\u202e' }), 'one two')
      assert.equal(await message('{arguments.a}', { a: '{arguments.b}', b: 'x' }), '{arguments.b}')
    })
    it('are redacted, by what they hold and by their name', async () => {
      assert.match(String(await message('{arguments.a}', { a: `sk-proj-${'aB3'.repeat(16)}` })), /REDACTED/)
      assert.match(String(await message('{arguments.password}', { password: 'hunter2hunter2' })), /REDACTED/)
    })
    it('are redacted in reasons and findings', async () => {
      const secret = `sk-proj-${'aB3'.repeat(16)}`
      const checks = [{ words: { args: ['/a'], bad: [secret] } }]
      const verdict = await judged([rule('r', 'allow', { checks })], aCall('t', { a: secret }))
      assert.equal(verdict.action, 'deny')
      assert.ok(!JSON.stringify(verdict).includes(secret))
    })
  })

  it('asks for everything where there is no policy', async () => {
    const policy = await (await openPolicies(gateway, { fault: gateway.fault })).current()
    assert.equal((await policy.judge(aCall('anything'), [])).action, 'confirm')
    assert.ok(policy.asks)
  })
})
