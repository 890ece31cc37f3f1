import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { Gateway } from 'guard-gateway/core'
import type { AuditRow } from '../../../../plugins/mcp/audit/tables.ts'
import { loadPolicy } from '../../../../plugins/mcp/policy/load.ts'
import { simulate } from '../../../../plugins/mcp/simulate/simulation.ts'
import { openGateway } from '../policy/kit.ts'

type Rule = Readonly<Record<string, unknown>> & { readonly id: string }

const some: Rule = {
  id: 'some',
  tools: ['t'],
  when: { arguments: { required: ['x'] } },
  action: 'confirm',
  checks: [{ size: { max_bytes: 9 } }],
  on_violation: 'confirm',
}
const finding = (check: string, rule_id = 'some') => ({ rule_id, check, pointer: '/a', reason: 'so' })

describe('a call on record whose arguments are not', () => {
  let gateway: Gateway
  before(async () => {
    gateway = await openGateway()
  })

  /** What a policy of these rules, else `allow`, may say of a call that it judged when it had the rules of `recorded`. */
  const opinions = async (row: Partial<AuditRow>, rules: readonly Rule[] = [some], recorded = rules) => {
    const document = (list: readonly Rule[]) => ({ version: 1, default: 'allow', rules: list })
    const { policy, errors } = await loadPolicy(gateway, { value: document(rules) } as never)
    assert.ok(policy !== undefined, JSON.stringify(errors))
    const whole = { server_id: 'fs', tool: 't', at: 1, policy_version: 'v', argument_hash: null, caller: null, ...row }
    const storage = {
      find: async () => ({ rows: [{ agent_id: null, project_id: null, ...whole }], next_cursor: null }),
      get: async (table: string) =>
        table === 'mcp_policies' ? { text: JSON.stringify(document(recorded)) } : undefined,
    }
    const found = await simulate({ storage, redact: gateway.redact } as never, policy, {}, () => undefined)
    const [group] = [...found.changes, ...found.unknown]
    return group?.would_be.join(' or ') ?? 'the same'
  }

  it('may be all that a rule says, where the rule was another one or nothing is known of it', async () => {
    const other = { ...some, action: 'deny' }
    assert.equal(await opinions({ action: 'allow', rule_ids: ['default'] }, [some], [other]), 'allow or confirm')
    assert.equal(await opinions({ action: 'deny', rule_ids: ['some'] }, [some], [other]), 'allow or confirm')
    assert.equal(await opinions({ action: 'deny', policy_version: null }), 'allow or confirm')
  })
  it('has from a rule that was the same what it found', async () => {
    const denied = { action: 'deny', rule_ids: ['some'] } as const
    assert.equal(await opinions({ ...denied, findings: [finding('size')] as never }), 'confirm')
    for (const check of ['arguments', 'when'])
      assert.equal(await opinions({ ...denied, findings: [finding(check)] as never }), 'the same', check)
    const confirmed = { action: 'confirm', rule_ids: ['some'] } as const
    assert.equal(await opinions({ ...confirmed, findings: [finding('size')] as never }), 'the same')
  })
  it('has its action where it said so then, or must have', async () => {
    assert.equal(await opinions({ action: 'deny', rule_ids: ['some'] }), 'confirm')
    const { when: _when, ...always } = some
    assert.equal(await opinions({ action: 'deny', rule_ids: [] }, [always as Rule]), 'confirm')
  })
  it('has silence of a rule that would have won, and may have either of one that would not', async () => {
    const then = [some, { id: 'other', tools: ['t'], action: 'deny' }]
    assert.equal(await opinions({ action: 'deny', rule_ids: ['other'] }, [some], then), 'allow or confirm')
    assert.equal(await opinions({ action: 'confirm', rule_ids: ['other'] }, [some], then), 'allow')
    assert.equal(await opinions({ action: 'allow', rule_ids: ['default'] }), 'the same')
  })
  it('says nothing where so much was found that not all is kept', async () => {
    const found = (count: number) => Array.from({ length: count }, () => finding('size', 'other')) as never
    const row = { action: 'allow', rule_ids: ['default'] } as const
    assert.equal(await opinions({ ...row, findings: found(49) }), 'the same')
    assert.equal(await opinions({ ...row, findings: found(50) }), 'allow or confirm')
  })
})
