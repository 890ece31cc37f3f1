import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { foundation } from 'guard-gateway/presets/foundation'
import { Type } from 'typebox'
import { type CheckFinding, mcpCheck } from '#lib/mcp-check'
import { limitTable } from '../../../../plugins/mcp/actions/tables.ts'
import type { ToolCall } from '../../../../plugins/mcp/judge/tool-call.ts'
import type { PartialVerdict, Verdict } from '../../../../plugins/mcp/judge/verdict.ts'
import { fakeClock } from '../../../kit/clock.ts'
import { aCall, openGateway, policyOf } from './kit.ts'

const schema = Type.Object({})
const failing = mcpCheck({
  id: 'failing',
  schema,
  find: () => {
    throw new Error('secret inside')
  },
})
const rejecting = mcpCheck({ id: 'rejecting', schema, find: () => Promise.reject(new Error('secret inside')) })
/** What checks give that no compiler has examined. */
const nonsense = {
  nothing: undefined,
  no: false,
  number: 5,
  object: {},
  list_of_nothing: [undefined],
  no_findings: [{ pointer: 7 }],
  nothing_later: Promise.resolve(undefined),
}
const odd = Object.entries(nonsense).map(([id, found]) => mcpCheck({ id, schema, find: () => found as never }))
const endless = mcpCheck({ id: 'endless', schema, find: () => new Promise<readonly CheckFinding[]>(() => undefined) })

describe('a limit', () => {
  it('counts a call when it is let through, however long that took', async () => {
    const clock = fakeClock()
    const slow = mcpCheck({
      id: 'slow',
      schema,
      find: async ({ ms }) => {
        clock.advance(Number(ms))
        return []
      },
    })
    const gateway = new Gateway({ clock }).use(...foundation(), memory(), slow)
    gateway.tables.add(limitTable)
    await gateway.open()
    for (const key of ['session', 'server']) {
      const limit = { calls: 1, per: '1s', key }
      const rules = [{ id: `by-${key}`, tools: ['t'], action: 'rate_limit', limit, checks: [{ slow: {} }] }]
      const policy = await policyOf(gateway, rules)
      const action = async (ms: number) => (await policy.judge(aCall('t', { ms }, { at: clock.now() }), [])).action
      assert.equal(await action(900), 'allow')
      clock.advance(200)
      assert.equal(await action(0), 'rate_limit')
    }
    await gateway.close()
  })
})

describe('judging a call', () => {
  let gateway: Gateway
  before(async () => {
    gateway = await openGateway(failing, rejecting, endless, ...odd)
  })
  after(() => gateway.close())

  const judged = async (
    rules: readonly object[],
    call: ToolCall,
    { more = [], ...rest }: { readonly more?: readonly PartialVerdict[]; readonly [key: string]: unknown } = {},
  ): Promise<Verdict> => (await policyOf(gateway, rules, rest)).judge(call, more)
  const winners = async (...given: Parameters<typeof judged>): Promise<string> => {
    const { action, winners: won } = await judged(...given)
    return `${action} ${won.map(({ rule_id }) => rule_id).join(' ')}`
  }
  const rule = (id: string, action: string, more: object = {}) => ({ id, tools: ['t'], action, ...more })
  const words = (bad: string, more: object = {}) => ({ checks: [{ words: { args: ['/a'], bad: [bad] } }], ...more })

  describe('the strictest opinion wins, whatever the order', () => {
    const all = [
      rule('allow', 'allow'),
      rule('shadow_deny', 'shadow_deny'),
      rule('transform', 'transform', { transform: { arguments: [{ set: { '/x': 1 } }] } }),
      rule('confirm', 'confirm'),
      rule('deny', 'deny'),
    ]
    for (const [index, { id }] of all.entries()) {
      it(`${id} over what is weaker`, async () => {
        const some = all.slice(0, index + 1)
        assert.equal(await winners(some, aCall('t')), `${id} ${id}`)
        assert.equal(await winners(some.toReversed(), aCall('t')), `${id} ${id}`)
      })
    }
    it('all that say it are winners, in file order', async () => {
      const rules = [rule('b', 'deny'), rule('x', 'allow'), rule('a', 'deny')]
      assert.equal(await winners(rules, aCall('t')), 'deny b a')
    })
    it('an exceeded limit is stricter than a question and weaker than a denial', async () => {
      const limit = rule('limit', 'rate_limit', { limit: { calls: 1, per: '1h' } })
      const asking = await policyOf(gateway, [
        limit,
        rule('ask', 'confirm', { when: { arguments: { required: ['ask'] } } }),
      ])
      assert.equal((await asking.judge(aCall('t'), [])).action, 'allow')
      assert.equal((await asking.judge(aCall('t', { ask: 1 }), [])).action, 'rate_limit')
      const denying: PartialVerdict = { rule_id: 'pin', action: 'deny' }
      assert.equal((await asking.judge(aCall('t'), [denying])).action, 'deny')
    })
    it('an opinion from outside makes a verdict stricter and never weaker', async () => {
      const pin: PartialVerdict = { rule_id: 'pin', action: 'confirm' }
      assert.equal(await winners([rule('a', 'allow')], aCall('t'), { more: [pin] }), 'confirm pin')
      assert.equal(await winners([rule('d', 'deny')], aCall('t'), { more: [pin] }), 'deny d')
      assert.equal(await winners([rule('c', 'confirm')], aCall('t'), { more: [pin] }), 'confirm c pin')
      assert.equal(await winners([], aCall('t'), { more: [{ rule_id: 'plugin', action: 'allow' }] }), 'deny default')
    })
  })

  describe('which rules speak', () => {
    it('none: the default, which is deny where the policy has none', async () => {
      assert.equal(await winners([], aCall('t')), 'deny default')
      assert.equal(await winners([], aCall('t'), { default: 'confirm' }), 'confirm default')
      assert.equal(await winners([], aCall('t'), { default: 'allow' }), 'allow default')
      assert.equal((await judged([], aCall('t'))).winners[0]?.reason, 'no rule matches this call of "t"')
    })
    it('those that name the tool, exactly or by stars, with their case', async () => {
      const read = { id: 'r', tools: ['read_*', 'get'], action: 'allow' }
      for (const tool of ['read_', 'read_file', 'get']) assert.equal(await winners([read], aCall(tool)), 'allow r')
      for (const tool of ['Read_file', 'xread_file', 'gets', ''])
        assert.equal(await winners([read], aCall(tool)), 'deny default')
      assert.equal(await winners([{ ...read, tools: ['r?ad', '[a-z]'] }], aCall('read')), 'deny default')
    })
    it('those that name the server, or none', async () => {
      const some = rule('r', 'allow', { servers: ['fs', 'db*'] })
      assert.equal(await winners([some], aCall('t', {}, { server_id: 'db2' })), 'allow r')
      assert.equal(await winners([some], aCall('t', {}, { server_id: 'web' })), 'deny default')
    })
    it('none that is not enabled', async () => {
      assert.equal(await winners([rule('d', 'deny', { enabled: false }), rule('a', 'allow')], aCall('t')), 'allow a')
    })
    it('those whose condition holds', async () => {
      const when = { arguments: { required: ['repo'], properties: { repo: { pattern: '^prod/' } } } }
      const rules = [rule('d', 'deny', { when }), rule('a', 'allow')]
      assert.equal(await winners(rules, aCall('t', { repo: 'prod/x' })), 'deny d')
      assert.equal(await winners(rules, aCall('t', { repo: 'test/x' })), 'allow a')
      assert.equal(await winners(rules, aCall('t')), 'allow a')
    })
    it('one whose condition cannot be judged, by denying', async () => {
      const when = { arguments: { $defs: { n: { allOf: [{ $ref: '#/$defs/n' }] } }, $ref: '#/$defs/n' } }
      const verdict = await judged([rule('a', 'allow', { when })], aCall('t'))
      assert.equal(verdict.action, 'deny')
      assert.equal(verdict.findings[0]?.certain, false)
    })
    it('a trial denial alone outranks the default, so that trying it blocks nothing', async () => {
      const verdict = await judged([rule('s', 'shadow_deny')], aCall('t'))
      assert.deepEqual([verdict.action, verdict.winners[0]?.rule_id], ['shadow_deny', 's'])
    })
  })

  describe('checks', () => {
    it('all must pass; what they object to denies, unless the rule says otherwise', async () => {
      assert.equal((await judged([rule('a', 'allow', words('x'))], aCall('t', { a: 'y' }))).action, 'allow')
      const denied = await judged([rule('a', 'allow', words('x'))], aCall('t', { a: 'x' }))
      assert.deepEqual([denied.action, denied.winners[0]?.reason], ['deny', '/a says x'])
      const asked = await judged([rule('a', 'allow', words('x', { on_violation: 'confirm' }))], aCall('t', { a: 'x' }))
      assert.deepEqual([asked.action, asked.winners[0]?.reason], ['confirm', '/a says x'])
      const tried = await judged(
        [rule('a', 'confirm', words('x', { on_violation: 'shadow_deny' }))],
        aCall('t', { a: 'x' }),
      )
      assert.equal(tried.action, 'shadow_deny')
    })
    it('give findings with rule and check, those of winners first', async () => {
      const rules = [
        rule('soft', 'allow', words('x', { on_violation: 'shadow_deny' })),
        rule('hard', 'allow', { checks: [{ words: { args: ['/a'], bad: ['x'] } }, { size: { max_bytes: 2 } }] }),
      ]
      const { findings } = await judged(rules, aCall('t', { a: 'x' }))
      assert.deepEqual(
        findings.map(({ rule_id, check }) => `${rule_id} ${check}`),
        ['hard words', 'hard size', 'soft words'],
      )
    })
    for (const id of ['failing', 'rejecting', ...Object.keys(nonsense)]) {
      it(`that fail (${id}) cannot tell, which counts, and say nothing of why`, async () => {
        const { action, findings } = await judged([rule('a', 'allow', { checks: [{ [id]: {} }] })], aCall('t'))
        assert.equal(action, 'deny')
        assert.deepEqual(findings, [
          { rule_id: 'a', check: id, pointer: '', reason: 'cannot be judged: the check failed', certain: false },
        ])
      })
    }
    it('that never answer cannot tell, which counts', async (test) => {
      test.mock.timers.enable({ apis: ['setTimeout'] })
      const verdict = judged([rule('a', 'allow', { checks: [{ endless: {} }, { endless: {} }] })], aCall('t'))
      let answered = false
      const tick = (): void => {
        if (answered) return
        test.mock.timers.tick(250)
        setImmediate(tick)
      }
      tick()
      const { action, findings } = await verdict
      answered = true
      assert.equal(action, 'deny')
      assert.deepEqual(
        findings.map(({ reason }) => reason),
        Array(2).fill('cannot be judged: the check took too long'),
      )
    })
  })
})
