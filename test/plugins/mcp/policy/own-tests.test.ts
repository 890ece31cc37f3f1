import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Gateway } from 'guard-gateway/core'
import { validatePolicy } from '../../../../plugins/mcp/policy/validate.ts'
import { openGateway } from './kit.ts'

describe("a policy's own tests", () => {
  let gateway: Gateway
  before(async () => {
    gateway = await openGateway()
  })
  after(() => gateway.close())

  const rules = [
    { id: 'read', tools: ['read'], action: 'allow', servers: ['fs'] },
    { id: 'limit', tools: ['search'], action: 'rate_limit', limit: { calls: 3, per: '1h', key: 'tool' } },
    { id: 'mail', tools: ['mail'], action: 'transform', transform: { arguments: [{ remove: '/bcc' }] } },
    { id: 'long', tools: ['many'], action: 'rate_limit', limit: { calls: 10_000, per: '1d' } },
  ]
  const run = async (...tests: readonly object[]) => {
    const policy = { version: 1, mode: 'shadow', default: 'confirm', rules, tests }
    const { valid, tests: results, errors } = await validatePolicy(gateway, { value: policy })
    assert.equal(valid, errors.length === 0 && results.every(({ pass }) => pass))
    return results
  }
  const call = (tool: string, args?: object, server?: string) => ({
    tool,
    ...(args === undefined ? {} : { arguments: args }),
    ...(server === undefined ? {} : { server }),
  })

  it('are judged as in enforce, each on its own', async () => {
    const results = await run(
      { call: call('read', {}, 'fs'), expect: 'allow', rule: 'read' },
      { call: call('read'), expect: 'confirm', rule: 'default' },
      { call: call('search'), repeat: 3, expect: 'allow' },
      { name: 'the fourth', call: call('search'), repeat: 4, expect: 'rate_limit', rule: 'limit' },
      { call: call('search'), expect: 'allow' },
      { call: call('mail', { to: 'a', bcc: 'b' }), expect: 'transform', sends: { to: 'a' } },
      { call: call('many'), repeat: 10_001, expect: 'rate_limit' },
    )
    assert.deepEqual(
      results.map(({ pass }) => pass),
      Array(7).fill(true),
    )
    assert.deepEqual(results[3], {
      name: 'the fourth',
      pass: true,
      expected: 'rate_limit',
      actual: 'rate_limit',
      rule: 'limit',
    })
  })
  it('say what was expected and what came', async () => {
    const results = await run(
      { call: call('read', { a: 1 }, 'fs'), expect: 'deny' },
      { call: call('read', {}, 'fs'), expect: 'allow', rule: 'limit' },
      { call: call('mail', { bcc: 'b' }), expect: 'transform', sends: { bcc: 'b' } },
    )
    assert.deepEqual(results, [
      { name: 'read {"a":1}', pass: false, expected: 'deny', actual: 'allow', rule: 'read' },
      { name: 'read {}', pass: false, expected: 'allow by rule limit', actual: 'allow by rule read', rule: 'read' },
      {
        name: 'mail {"bcc":"b"}',
        pass: false,
        expected: 'transform sending {"bcc":"b"}',
        actual: 'transform sending {}',
        rule: 'mail',
      },
    ])
  })
  it('store nothing', async () => {
    await run({ call: call('search'), repeat: 4, expect: 'rate_limit' })
    assert.deepEqual((await gateway.storage.find('mcp_limits')).rows, [])
  })
  it('are refused where they make more calls than a load may take, or name no rule', async () => {
    const tests = [
      { call: call('read'), repeat: 10_001, expect: 'confirm' },
      { call: call('read'), expect: 'confirm', rule: 'raed' },
    ]
    const many = Array(5).fill(tests[0])
    const { errors } = await validatePolicy(gateway, { value: { version: 1, rules, tests: [...many, tests[1]] } })
    assert.deepEqual(
      errors.map(({ path, message }) => `${path} ${message}`),
      [
        '/tests/5/rule there is no rule "raed"; did you mean "read"?',
        '/tests make 50006 calls, more than the 50000 that are run',
      ],
    )
  })
  it('are refused where their calls hold more characters than a load may judge', async () => {
    const test = { call: { tool: 'read', arguments: { a: 'x'.repeat(9_992) } }, repeat: 5_001, expect: 'confirm' }
    const { errors } = await validatePolicy(gateway, { value: { version: 1, rules, tests: [test] } })
    assert.deepEqual(
      errors.map(({ path, message }) => `${path} ${message}`),
      ['/tests judge 50010000 characters of arguments in all their calls, more than the 50000000 that are judged'],
    )
  })
})
