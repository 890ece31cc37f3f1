import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { GuardError } from 'guard-gateway/core'
import { extendedRules } from 'guard-gateway/plugins/policy'
import { shippedRules } from '../../../../presets/default/policies.ts'

const base = [
  { id: 'a', rule_type: 'tool_repeat', action: 'block', params: { result_aware: true } },
  { id: 'b', rule_type: 'tool_repeat', action: 'flag' },
  { id: 'c', rule_type: 'tool_repeat', action: 'block', enabled: false },
  { id: 'd', rule_type: 'error_retry' },
  { id: 'e', rule_type: 'exact_repeat' },
]
const read = async (name: string): Promise<unknown> =>
  name === 'base' ? base : name === 'middle' ? { extends: 'base', actions: { exact_repeat: 'steer' } } : undefined

describe('a list of rules that extends another', () => {
  it('changes what enabled rules of the named types do instead of blocking, and nothing else', async () => {
    const rules = await extendedRules({ extends: 'middle', actions: { tool_repeat: 'pause' } }, read)
    assert.deepEqual(rules, [
      { ...base[0], action: 'pause' },
      base[1],
      base[2],
      base[3],
      { ...base[4], action: 'steer' },
    ])
    assert.deepEqual(await extendedRules(base, read), base)
  })
  it('is refused where it is neither', async () => {
    for (const list of [undefined, {}, { extends: 'base' }, { extends: 'nothing', actions: {} }, 'base'])
      await assert.rejects(extendedRules(list, read), (error) => (error as GuardError).code === 'INVALID_POLICY')
  })
  it('follows the recommended rules: every loop rule that blocks there does what the list is named for', async () => {
    const { presets } = await shippedRules()
    const of = (name: keyof typeof presets) => presets[name] as readonly Readonly<Record<string, unknown>>[]
    for (const [name, action] of [
      ['steer-recommended', 'steer'],
      ['pause-recommended', 'pause'],
    ] as const) {
      const expected = of('enforce-recommended').map((rule) => {
        const isLoop = !/^(?:error_retry|max_)/.test(String(rule.rule_type))
        return isLoop && rule.enabled && rule.action === 'block' ? { ...rule, action } : rule
      })
      assert.deepEqual(of(name), expected)
    }
  })
})
