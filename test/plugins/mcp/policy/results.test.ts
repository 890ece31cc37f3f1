import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { Type } from 'typebox'
import { mcpResultCheck } from '#lib/mcp-check'
import { codeNames } from '../../../../examples/custom-result-check.ts'
import { validatePolicy } from '../../../../plugins/mcp/policy/validate.ts'
import { injection } from '../../../../plugins/mcp-result-checks/injection.ts'
import { secrets } from '../../../../plugins/mcp-result-checks/secrets.ts'
import { resultSize } from '../../../../plugins/mcp-result-checks/size.ts'
import { blocksOf } from '../../../kit/guide.ts'
import { aCall, openGateway, policyOf } from './kit.ts'

const odd = mcpResultCheck({
  id: 'odd',
  schema: Type.Object({ word: Type.String() }, { additionalProperties: false }),
  mends: 'redact',
  compile: async ({ word }) => {
    if (word === 'bad') throw new GuardError('INVALID_POLICY', 'the word cannot be used')
    return { word: word.toUpperCase() }
  },
  lint: ({ word }) => (word === 'vague' ? [{ code: 'ODD_WORD', message: 'says little' }] : []),
  find: () => [],
})

describe('checks of results in a policy', () => {
  let gateway: Gateway
  before(async () => {
    gateway = await openGateway()
    gateway.use(resultSize, secrets, injection, codeNames, odd)
  })
  after(() => gateway.close())

  const rule = (more: object = {}) => ({ id: 'r', tools: ['t'], action: 'allow', ...more })
  const faults = async (policy: object) =>
    (await validatePolicy(gateway, { value: { version: 1, rules: [], ...policy } })).errors.map(
      ({ path, message }) => `${path} ${message}`,
    )

  for (const [name, policy, fault] of [
    ['an unknown one', { results: [{ secret: {} }] }, '/results/0 unknown check "secret"; did you mean "secrets"?'],
    [
      'an unknown one of a rule',
      { rules: [rule({ results: [{ foo: {} }] })] },
      '/rules/0/results/0 unknown check "foo"; there is size, secrets, injection, code_names, odd',
    ],
    [
      'an action that it has not',
      { results: [{ secrets: { action: 'cut' } }] },
      '/results/0/secrets/action must be one of shadow, redact, deny; is "cut"',
    ],
    [
      'an unknown option',
      { results: [{ secrets: { host: 1 } }] },
      '/results/0/secrets unknown key "host"; there is kinds, action',
    ],
    [
      'a limit that is none',
      { results: [{ size: { max_bytes: 0 } }] },
      '/results/0/size/max_bytes must be at least 1, is 0',
    ],
    ['no limit', { results: [{ size: {} }] }, '/results/0/size needs one of max_bytes, max_data_bytes'],
    [
      'two in one',
      { results: [{ secrets: {}, injection: {} }] },
      '/results/0 holds secrets and injection; write a list element for each of them',
    ],
    ['none', { results: [] }, '/results must not be empty'],
    [
      'some of a denial',
      { rules: [rule({ action: 'deny', results: [{ secrets: {} }] })] },
      '/rules/0/results cannot stand with action deny; such a call has no result',
    ],
    [
      'an option that the check refuses',
      { results: [{ odd: { word: 'bad' } }] },
      '/results/0/odd the word cannot be used',
    ],
    [
      'a variable that is not there',
      { results: [{ injection: { hosts: [`\${home}`] } }] },
      `/results/0/injection/hosts/0 \${home} names no variable of vars; the policy has no vars`,
    ],
  ] as const)
    it(`are refused: ${name}`, async () => assert.deepEqual(await faults(policy), [fault]))

  it('are ready with their options, the action apart, and shadow where none is named', async () => {
    const policy = await policyOf(
      gateway,
      [
        rule({ results: [{ odd: { word: `\${w}`, action: 'deny' } }] }),
        rule({ id: 'off', enabled: false, results: [{ secrets: {} }] }),
        rule({ id: 'other', tools: ['u'], results: [{ secrets: {} }] }),
      ],
      { vars: { w: 'ice' }, results: [{ size: { max_bytes: 5 } }] },
    )
    const { results = [] } = await policy.judge(aCall('t'), [])
    assert.deepEqual(
      results.map(({ check, options, action, rule_id }) => [check.id, options, action, rule_id]),
      [
        ['size', { max_bytes: 5 }, 'shadow', 'results'],
        ['odd', { word: 'ICE' }, 'deny', 'r'],
      ],
    )
    assert.equal((await (await policyOf(gateway, [rule()])).judge(aCall('t'), [])).results, undefined)
  })
  it('warn of options that promise less than they seem to', async () => {
    const value = { version: 1, results: [{ odd: { word: 'vague' } }], rules: [] }
    const { warnings } = await validatePolicy(gateway, { value })
    assert.deepEqual(
      warnings.map(({ code, path, message }) => [code, path, message]),
      [['ODD_WORD', '/results/0/odd', 'the policy: says little']],
    )
  })
  it('of the guide are valid', async () => {
    const guide = readFileSync(join(import.meta.dirname, '../../../../plugins/mcp-result-checks/README.md'), 'utf8')
    const text = blocksOf(guide, 'yaml').find((block) => block.startsWith('version: 1')) ?? ''
    assert.deepEqual((await validatePolicy(gateway, { text })).errors, [])
  })
})
