import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Gateway } from 'guard-gateway/core'
import { loadPolicy } from '../../../../plugins/mcp/policy/load.ts'
import { openGateway } from './kit.ts'

/** `${text}`, which is text of YAML here and nothing of JavaScript. */
const ref = (text: string): string => `$\{${text}}`

describe('variables of a policy', () => {
  let gateway: Gateway
  before(async () => {
    gateway = await openGateway()
  })
  after(() => gateway.close())

  const load = (
    vars: Readonly<Record<string, string>> | undefined,
    bad: string,
    env: Readonly<Record<string, string>> = {},
  ) => {
    const checks = [{ words: { args: ['/a'], bad: [bad] } }]
    const value = {
      version: 1,
      ...(vars === undefined ? {} : { vars }),
      rules: [{ id: 'r', tools: ['t'], action: 'allow', checks }],
    }
    return loadPolicy(gateway, { value }, { env })
  }
  const filled = async (...given: Parameters<typeof load>): Promise<unknown> => {
    const { policy, errors } = await load(...given)
    assert.deepEqual(errors, [])
    return policy?.rules[0]?.checks[0]?.options
  }
  const message = async (...given: Parameters<typeof load>): Promise<string> =>
    (await load(...given)).errors.map(({ path, message: text }) => `${path}: ${text}`).join('\n')

  it('come from the environment, else from what is after :-', async () => {
    const vars = { v: ref('NAME:-x') }
    assert.deepEqual(await filled(vars, ref('v'), { NAME: 'y' }), { args: ['/a'], bad: ['y'] })
    assert.deepEqual(await filled(vars, ref('v')), { args: ['/a'], bad: ['x'] })
    assert.deepEqual(await filled(vars, ref('v'), { NAME: '' }), { args: ['/a'], bad: ['x'] })
  })
  it('stand anywhere in the options of a check, more than once', async () => {
    assert.deepEqual(await filled({ v: 'x' }, `a${ref('v')}b${ref('v')}`), { args: ['/a'], bad: ['axbx'] })
  })
  it('are filled in once: what they hold is not examined again', async () => {
    assert.deepEqual(await filled({ v: ref('NAME'), w: 'x' }, ref('v'), { NAME: ref('w') }), {
      args: ['/a'],
      bad: [ref('w')],
    })
  })
  it('that do not end are refused, however many', async () => {
    assert.equal(
      await message({ v: '${A:-'.repeat(100_000) }, ref('v')),
      `/vars/v: $\{A does not end; write ${ref('A')}`,
    )
    assert.equal(
      await message({ v: 'x' }, 'a ${v b'),
      `/rules/0/checks/0/words/bad/0: "$\{v" is no reference to a variable; write ${ref('v')}`,
    )
  })
  it('without braces are refused where they would mean a variable', async () => {
    assert.equal(await message({ v: '$HOME' }, ref('v')), `/vars/v: "$HOME" stands for itself; write ${ref('HOME')}`)
    assert.equal(
      await message({ v: 'x' }, '$v/a'),
      `/rules/0/checks/0/words/bad/0: "$v" is no reference to a variable; write ${ref('v')}`,
    )
    assert.deepEqual(await filled({ v: 'x' }, '$PATH'), { args: ['/a'], bad: ['$PATH'] })
  })
  it('take plain text alone as their default', async () => {
    assert.equal(
      await message({ v: `$\{A:-${ref('B')}}` }, ref('v'), { A: 'x', B: 'y' }),
      `/vars/v: the default of ${ref('A')} holds another reference; give it plain text`,
    )
  })
  it('are part of the version', async () => {
    const version = async (name: string) => (await load({ v: ref('NAME') }, ref('v'), { NAME: name })).policy?.version
    assert.match(String(await version('a')), /^[0-9a-f]{64}$/)
    assert.equal(await version('a'), await version('a'))
    assert.notEqual(await version('a'), await version('b'))
  })
  it('that the environment lacks are told, and how to do without', async () => {
    assert.equal(
      await message({ v: ref('NAME') }, ref('v'), { NAME: '' }),
      `/vars/v: the environment variable NAME is not set; set it, or write ${ref('NAME:-default')}`,
    )
    assert.equal(
      await message({ v: ref('constructor') }, ref('v')),
      `/vars/v: the environment variable constructor is not set; set it, or write ${ref('constructor:-default')}`,
    )
  })
  it('that the policy lacks are told with what there is', async () => {
    const at = '/rules/0/checks/0/words/bad/0'
    assert.equal(
      await message(undefined, ref('v')),
      `${at}: ${ref('v')} names no variable of vars; the policy has no vars`,
    )
    assert.equal(
      await message({ project: 'x' }, ref('projekt')),
      `${at}: ${ref('projekt')} names no variable of vars; did you mean "project"?`,
    )
    assert.equal(
      await message({ a: 'x', b: 'y' }, ref('HOME')),
      `${at}: ${ref('HOME')} names no variable of vars; there is a, b`,
    )
  })
})
