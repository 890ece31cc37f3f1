import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Type } from 'typebox'
import { mcpCheck } from '#lib/mcp-check'
import { validatePolicy } from '../../../../plugins/mcp/policy/validate.ts'
import { aCall, openGateway, policyOf } from './kit.ts'

/** Takes longer than one turn, and notes how many turns others have had before. */
const slowly = () => {
  let turns = 0
  const seen: number[] = []
  const check = mcpCheck({
    id: 'slowly',
    schema: Type.Object({}),
    find: () => {
      seen.push(turns)
      const from = performance.now()
      while (performance.now() - from < 6);
      return []
    },
  })
  let waiting: NodeJS.Immediate
  const turn = (): void => {
    turns++
    waiting = setImmediate(turn)
  }
  waiting = setImmediate(turn)
  return { check, seen, [Symbol.dispose]: () => clearImmediate(waiting) }
}

const isRising = (seen: readonly number[]): boolean =>
  seen.every((turns, index) => index === 0 || turns > (seen[index - 1] ?? 0))

const allow = { tools: ['t'], action: 'allow' }

describe('checks that take long let others have their turn', () => {
  it('between the rules of a call, and between the checks of a rule', async () => {
    using slow = slowly()
    const gateway = await openGateway(slow.check)
    const inRules = [1, 2, 3].map((n) => ({ ...allow, id: `r${n}`, checks: [{ slowly: {} }] }))
    const inRule = { ...allow, id: 'r4', checks: [{ slowly: {} }, { slowly: {} }, { slowly: {} }] }
    const policy = await policyOf(gateway, [...inRules, inRule])
    assert.equal((await policy.judge(aCall('t'), [])).action, 'allow')
    assert.equal(slow.seen.length, 6)
    assert.ok(isRising(slow.seen), String(slow.seen))
    await gateway.close()
  })
  it('between the tests of a policy, and between the repetitions of one', async () => {
    using slow = slowly()
    const gateway = await openGateway(slow.check)
    const rules = [{ ...allow, id: 'r', checks: [{ slowly: {} }] }]
    const test = { call: { tool: 't' }, repeat: 3, expect: 'allow' }
    const { valid } = await validatePolicy(gateway, { value: { version: 1, rules, tests: [test, test] } })
    assert.equal(valid, true)
    assert.equal(slow.seen.length, 6)
    assert.ok(isRising(slow.seen), String(slow.seen))
    await gateway.close()
  })
})
