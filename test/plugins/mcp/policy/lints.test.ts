import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Gateway } from 'guard-gateway/core'
import { Type } from 'typebox'
import { type CheckFinding, mcpCheck } from '#lib/mcp-check'
import type { ListedTool } from '../../../../plugins/mcp/policy/listed-tool.ts'
import { validatePolicy } from '../../../../plugins/mcp/policy/validate.ts'
import { openGateway } from './kit.ts'

const careful = mcpCheck({
  id: 'careful',
  schema: Type.Object({}),
  lint: () => [{ code: 'SHELL_DENY_ONLY', message: 'A list of denials is no boundary.' }],
  find: (): readonly CheckFinding[] => [],
})

const may = mcpCheck({
  id: 'may',
  schema: Type.Object({ args: Type.Unsafe<string[]>({ $ref: '#/$defs/pointers' }), optional: Type.Boolean() }),
  find: (): readonly CheckFinding[] => [],
})

describe('a valid policy that promises less than it seems to', () => {
  let gateway: Gateway
  before(async () => {
    gateway = await openGateway(careful, may)
  })
  after(() => gateway.close())

  const told = async (policy: object, tools?: readonly ListedTool[]): Promise<readonly string[]> => {
    const value = { version: 1, ...policy }
    const { valid, errors, warnings } = await validatePolicy(gateway, { value }, tools === undefined ? {} : { tools })
    assert.deepEqual([valid, errors], [true, []])
    return warnings.map(({ code, path, message }) => `${code} ${path} ${message}`)
  }
  const rule = (id: string, action: string, tools: readonly string[], more: object = {}) => ({
    id,
    tools,
    action,
    ...more,
  })

  it('without pins', async () => {
    assert.deepEqual(await told({ pinning: 'off', rules: [] }), [
      'PIN_OFF /pinning a tool may change what it does without anybody being told',
    ])
  })
  it('with a rule that never wins', async () => {
    const never = async (...rules: readonly object[]) =>
      (await told({ rules })).map((text) => text.split(' ').slice(0, 2).join(' '))
    const denied = rule('d', 'deny', ['a', 'b*'])
    assert.deepEqual(await told({ rules: [rule('x', 'allow', ['a', 'bee']), denied] }), [
      'RULE_NEVER_WINS /rules/0 rule "x" never wins: rule "d" is stricter about all its tools, whatever the arguments',
    ])
    assert.deepEqual(await never(denied, rule('x', 'confirm', ['b*'])), ['RULE_NEVER_WINS /rules/1'])
    assert.deepEqual(await never(denied, rule('x', 'allow', ['a', 'c'])), [])
    assert.deepEqual(await never(denied, rule('x', 'allow', ['*'])), [])
    assert.deepEqual(await never(denied, rule('x', 'deny', ['a'])), [])
    assert.deepEqual(await never({ ...denied, servers: ['fs'] }, rule('x', 'allow', ['a'])), [])
    assert.deepEqual(await never({ ...denied, enabled: false }, rule('x', 'allow', ['a'])), [])
    const checks = [{ size: { max_bytes: 1 } }]
    assert.deepEqual(await never(rule('c', 'confirm', ['a']), rule('x', 'allow', ['a'], { checks })), [])
    assert.deepEqual(await never(rule('c', 'confirm', ['a'], { checks }), rule('x', 'allow', ['a'])), [])
  })
  it('with a denial by stars that is thought to hide', async () => {
    const rules = [rule('d', 'deny', ['a', 'b*'])]
    assert.deepEqual(await told({ rules, hide_denied_tools: true }), [
      'GLOB_DENY_NOT_HIDDEN /rules/0/tools/1 rule "d" denies "b*" without hiding it; only a tool\'s exact name leaves the list',
    ])
    assert.deepEqual(await told({ rules }), [])
  })
  it('with a denial under a condition', async () => {
    const when = { arguments: { required: ['x'] } }
    assert.deepEqual(await told({ rules: [rule('d', 'deny', ['a'], { when }), rule('x', 'allow', ['b'], { when })] }), [
      'WHEN_ON_DENY /rules/0/when rule "d" denies under a condition; arguments written in another way can dodge it',
    ])
  })
  it('with patterns and places that stand for themselves', async () => {
    const rules = [
      rule('p', 'allow', ['a?b', 'read_*', 'c '], { servers: ['f{s}'], message: 'Reads {path}: {arguments.path}' }),
    ]
    assert.deepEqual(await told({ rules }), [
      'PATTERN_TAKEN_LITERALLY /rules/0/tools/0 rule "p" names "a?b"; * is the only wildcard, every other character stands for itself',
      'PATTERN_TAKEN_LITERALLY /rules/0/tools/2 rule "p" names "c "; * is the only wildcard, every other character stands for itself',
      'PATTERN_TAKEN_LITERALLY /rules/0/servers/0 rule "p" names "f{s}"; * is the only wildcard, every other character stands for itself',
      'MESSAGE_TAKEN_LITERALLY /rules/0/message rule "p" shows {path} as it stands; only {arguments.name} is filled in',
    ])
  })
  it('with integers that a double cannot hold', async () => {
    const rounded = async (...rules: readonly object[]) =>
      (await told({ rules })).filter((text) => text.startsWith('NUMBER_ROUNDED'))
    const allOf = [{ properties: { id: { enum: [1, 2 ** 53 + 1, 0.5] } } }]
    assert.deepEqual(await rounded(rule('w', 'confirm', ['a'], { when: { arguments: { allOf } } })), [
      'NUMBER_ROUNDED /rules/0/when/arguments/allOf/0/properties/id/enum/1 rule "w" has an integer beyond 2^53, ' +
        'which is rounded to 9007199254740992; so are the arguments that it meets',
    ])
    const transform = { arguments: [{ set: { '/id': -(2 ** 60), '/n': 2 ** 53 - 1 } }] }
    const [first, ...more] = await rounded(rule('t', 'transform', ['a'], { transform }))
    assert.match(first ?? '', /^NUMBER_ROUNDED \/rules\/0\/transform\/arguments\/0\/set\/~1id /)
    assert.deepEqual(more, [])
  })
  it('with a check that has something to say', async () => {
    assert.deepEqual(await told({ rules: [rule('s', 'allow', ['a'], { checks: [{ careful: {} }] })] }), [
      'SHELL_DENY_ONLY /rules/0/checks/0/careful rule "s": A list of denials is no boundary.',
    ])
  })

  describe('seen beside the tools that servers list', () => {
    const properties = { path: {}, mode: {} }
    const tools: readonly ListedTool[] = [
      { server_id: 'fs', name: 'read', inputSchema: { properties } },
      { name: 'fetch', inputSchema: { properties: { targetUrl: {} } } },
      { name: 'free' },
    ]
    const words = (...args: readonly string[]) => ({ checks: [{ words: { args, bad: ['x'] } }] })
    it('with a tool that there is not', async () => {
      const some = tools.slice(0, 1)
      const rules = [
        rule('r', 'confirm', ['read', 'raed', 'wri*']),
        rule('s', 'confirm', ['raed'], { servers: ['f*'] }),
        rule('unseen', 'confirm', ['raed'], { servers: ['db'] }),
      ]
      assert.deepEqual(await told({ rules }, some), [
        'TOOL_NOT_SEEN /rules/0/tools/1 rule "r" names the tool "raed", which no server lists',
        'TOOL_NOT_SEEN /rules/1/tools/0 rule "s" names the tool "raed", which no server lists',
      ])
      assert.deepEqual(await told({ rules }), [])
    })
    it('with a pointer to an argument that there is not', async () => {
      assert.deepEqual(
        await told({ rules: [rule('r', 'allow', ['read', 'free'], words('/path/x', '/file', '/*'))] }, tools),
        [
          'POINTER_NOT_IN_SCHEMA /rules/0/checks/0/words/args/1 rule "r" checks /file, which is no argument of read; there is path, mode',
        ],
      )
    })
    it('with a pointer that some tool has, where it may be missing', async () => {
      const optional = (...args: readonly string[]) => ({
        checks: [{ size: { args, max_bytes: 9 } }, { may: { args, optional: true } }],
      })
      const two = [...tools, { server_id: 'fs', name: 'list', inputSchema: { properties: { dir: {} } } }]
      const rules = [rule('r', 'confirm', ['read', 'list'], optional('/path', '/file'))]
      const found = await told({ rules }, two)
      assert.deepEqual(
        found.map((text) => text.split(' ')[1]),
        ['/rules/0/checks/0/size/args/0', '/rules/0/checks/0/size/args/1', '/rules/0/checks/1/may/args/1'],
      )
    })
    it('with an argument at which no check looks, unless every call is asked about', async () => {
      const rules = [rule('r', 'allow', ['fetch', 'read'], words('/path'))]
      const unchecked = async (...more: readonly object[]) =>
        (await told({ rules: [...rules, ...more] }, tools)).filter((text) => text.startsWith('ARGUMENT_UNCHECKED'))
      assert.equal((await unchecked()).length, 1)
      assert.equal((await unchecked(rule('s', 'confirm', ['fetch']))).length, 0)
      assert.equal((await unchecked(rule('s', 'confirm', ['fetch'], { when: { arguments: {} } }))).length, 1)
    })
    it('with free access to what leads out', async () => {
      assert.deepEqual(await told({ rules: [rule('r', 'allow', ['*'])] }, tools), [
        'ALLOW_WITHOUT_CHECKS /rules/0 rule "r" allows read with any path; give it checks',
        'ALLOW_WITHOUT_CHECKS /rules/0 rule "r" allows fetch with any targetUrl; give it checks',
      ])
      assert.deepEqual(await told({ rules: [rule('r', 'confirm', ['*'])] }, tools), [])
    })
  })
})
