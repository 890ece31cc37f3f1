import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Rule } from 'guard-gateway/core'
import { startGateway } from '../../../kit/gateway.ts'

interface Told {
  readonly warnings: readonly { readonly code: string; readonly path: string; readonly message: string }[]
  readonly rules: readonly Rule[]
}

describe('the default rules, enforced', () => {
  const warned = async (document: object, config = '') => {
    const gateway = await startGateway({ config })
    try {
      const { json } = await gateway.request('PUT', '/api/policies/shop', document)
      return (json as Told).warnings.filter(({ code }) => code === 'DEFAULT_ENFORCED')
    } finally {
      await gateway.close()
    }
  }
  const rules = async (): Promise<readonly Rule[]> => {
    const gateway = await startGateway()
    try {
      return ((await gateway.request('GET', '/api/policies/shop')).json as Told).rules
    } finally {
      await gateway.close()
    }
  }

  it('are warned of with what they stop beside loops, and with what to use instead', async () => {
    const [told] = await warned({ mode: 'enforce' })
    assert.equal(told?.path, '/mode')
    for (const part of [
      /attempt 3 of a request whose 2 attempts before failed at the provider/,
      /a check that is run a third time after edits/,
      /any session after 50 requests/,
      /any session after 100,000 tokens, cache reads counted in full/,
      /The preset "enforce-recommended" stops what is surely stuck and only flags the rest\.$/,
    ])
      assert.match(told?.message ?? '', part)
  })
  it('are known by what they do, whatever they are called and however they are ordered', async () => {
    const renamed = (await rules()).map((rule, index) => ({ ...rule, id: `r${index}`, note: 'mine' })).reverse()
    assert.equal((await warned({ mode: 'enforce', rules: renamed })).length, 1)
    const more = [...renamed, { rule_type: 'max_cost', threshold: 5, enabled: false }]
    assert.equal((await warned({ mode: 'enforce', rules: more })).length, 1)
  })
  it('are warned of where the configuration enforces', async () => {
    assert.equal((await warned({ preset: 'default' }, 'default_mode: enforce')).length, 1)
    assert.equal((await warned({ preset: 'default', mode: 'shadow' }, 'default_mode: enforce')).length, 0)
  })
  it('are not warned of in shadow, nor are other rules', async () => {
    const own = (await rules()).map((rule) => (rule.rule_type === 'max_tokens' ? { ...rule, threshold: 1e9 } : rule))
    for (const document of [
      { preset: 'default' },
      { mode: 'shadow' },
      { mode: 'enforce', preset: 'enforce-recommended' },
      { mode: 'enforce', rules: own },
    ])
      assert.deepEqual(await warned(document), [])
  })
})
