import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Gateway } from 'guard-gateway/core'
import { loadPolicy } from '../../../../plugins/mcp/policy/load.ts'
import { openGateway } from './kit.ts'

describe('a wrong policy is shown by line, column and what to do', () => {
  let gateway: Gateway
  before(async () => {
    gateway = await openGateway()
  })
  after(() => gateway.close())

  /** Each error as `line:column path: message`. */
  const errorsOf = async (text: string): Promise<readonly string[]> => {
    const { errors, policy } = await loadPolicy(gateway, { text }, { env: { SET: 'x', EMPTY: '' } })
    assert.equal(policy === undefined, errors.length > 0)
    return errors.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`)
  }
  const wrong = (what: string, text: string, ...errors: readonly string[]): void => {
    it(what, async () => assert.deepEqual(await errorsOf(text), errors))
  }
  /** A policy with one rule, its first member in line 4, after four blanks. */
  const rule = (...lines: readonly string[]): string =>
    ['version: 1', 'rules:', '  - id: a', ...lines.map((line) => `    ${line}`)].join('\n')
  const asks = (...lines: readonly string[]): string => rule('tools: [t]', 'action: allow', ...lines)

  describe('text that is no document', () => {
    wrong('nothing', '', '1:1 : must be a map of keys, is nothing')
    wrong('a list', '[]', '1:1 : must be a map of keys, is a list')
    wrong(
      'a key that appears twice',
      'version: 1\nversion: 1\nrules: []',
      '2:1 : The key appears twice in one map; keep one of the two.',
    )
    wrong(
      'a star without quotes',
      'version: 1\nrules:\n  - id: a\n    tools: [*]\n    action: deny',
      '4:13 : a value that begins with * must be in quotes: "*".',
    )
    wrong(
      'a pattern without quotes',
      'version: 1\nrules:\n  - id: a\n    tools:\n      - *_file\n    action: deny',
      '5:9 : a value that begins with * must be in quotes: "*_file".',
    )
    wrong('something else, with a star in it', 'a: b: *c', '1:4 : Nested mappings are not allowed in compact mappings')
    it('bytes that are no UTF-8', async () => {
      const { errors } = await loadPolicy(gateway, { text: Buffer.from([0xff, 0xfe]) })
      assert.deepEqual(errors[0], {
        code: 'INVALID_YAML',
        path: '',
        line: 1,
        column: 1,
        message: 'The text is not valid UTF-8.',
      })
    })
    it('more than a mebibyte', async () => {
      const { errors } = await loadPolicy(gateway, { text: `# ${'x'.repeat(1_048_576)}` })
      assert.equal(errors[0]?.message, 'The text has 1048578 bytes, 1048576 are allowed.')
    })
    it('data that nests too deep', async () => {
      let deep: object = {}
      for (let level = 0; level < 100_000; level++) deep = { deep }
      assert.equal((await loadPolicy(gateway, { value: deep })).errors[0]?.message, 'nests deeper than 64 levels')
    })
    wrong(
      'aliases that multiply',
      `version: 1\nvars: &v { a: b }\nrules: [${'*v, '.repeat(21)}*v]`,
      '1:1 : Aliases are used more than 20 times over, or refer to nothing.',
    )
  })

  describe('members of the policy', () => {
    wrong(
      'none of the needed ones',
      'mode: enforce',
      '1:1 : the key "version" is missing',
      '1:1 : the key "rules" is missing',
    )
    wrong('another version', 'version: 2\nrules: []', '1:1 /version: must be 1, is 2')
    wrong('a version in quotes', 'version: "1"\nrules: []', '1:1 /version: must be 1, is "1"')
    wrong('a key that is none', 'version: 1\nrules: []\nmod: shadow', '3:1 : unknown key "mod"; did you mean "mode"?')
    wrong(
      'a mode that is none',
      'version: 1\nrules: []\nmode: shado',
      '3:1 /mode: must be one of enforce, shadow; is "shado"; did you mean "shadow"?',
    )
    wrong(
      'a default that asks for too much',
      'version: 1\nrules: []\ndefault: transform',
      '3:1 /default: must be one of allow, confirm, deny; is "transform"',
    )
    wrong(
      'pinning that is none',
      'version: 1\nrules: []\npinning: true',
      '3:1 /pinning: must be one of off, warn, confirm, deny; is true',
    )
    wrong(
      'hiding that is neither yes nor no',
      'version: 1\nrules: []\nhide_denied_tools: yes',
      '3:1 /hide_denied_tools: must be true or false, is "yes"',
    )
    wrong('rules that are no list', 'version: 1\nrules: {}', '2:1 /rules: must be a list, is a map of keys')
    wrong('a rule that is none', 'version: 1\nrules: [x]', '2:9 /rules/0: must be a map of keys, is "x"')
    wrong(
      'a name of a variable',
      'version: 1\nrules: []\nvars:\n  Project: x',
      '3:1 /vars: "Project" must be small letters, digits and underscores, and begin with a letter',
    )
    wrong('a variable that is no text', 'version: 1\nrules: []\nvars:\n  a: 1', '4:3 /vars/a: must be text, is 1')
    it('more than 1000 rules', async () => {
      const one = { tools: ['t'], action: 'deny' }
      const rules = Array.from({ length: 1001 }, (_none, index) => ({ id: `r${index}`, ...one }))
      const { errors } = await loadPolicy(gateway, { value: { version: 1, rules } })
      assert.deepEqual(errors, [
        { code: 'INVALID_POLICY', path: '/rules', line: null, column: null, message: 'has more than 1000 elements' },
      ])
    })
  })

  describe('members of a rule', () => {
    wrong(
      'one that is none, and what it was meant to be is not missed besides',
      rule('tool: [t]', 'action: deny'),
      '4:5 /rules/0: unknown key "tool"; did you mean "tools"?',
    )
    wrong(
      'no action: nothing that belongs to one is missed',
      rule('tools: [t]'),
      '3:5 /rules/0: the key "action" is missing',
    )
    wrong(
      'an action that is none',
      rule('tools: [t]', 'action: block'),
      '5:5 /rules/0/action: must be one of allow, deny, confirm, transform, rate_limit, shadow_deny; is "block"',
    )
    wrong(
      'a reserved id',
      'version: 1\nrules:\n  - { id: default, tools: [t], action: deny }',
      '3:7 /rules/0/id: "default" is reserved',
    )
    wrong(
      'ids of pins and plugins',
      'version: 1\nrules:\n  - { id: pin, tools: [t], action: deny }\n  - { id: plugin, tools: [t], action: deny }',
      '3:7 /rules/0/id: "pin" is reserved',
      '4:7 /rules/1/id: "plugin" is reserved',
    )
    wrong(
      'a merge key, without what it was to bring',
      'version: 1\nrules:\n  - &a { id: a, tools: [t], action: deny }\n  - { <<: *a, id: b }',
      '4:7 /rules/1: YAML 1.2 has no merge key "<<"; write the keys out, or give whole values an anchor',
    )
    wrong(
      'an id with blanks',
      'version: 1\nrules:\n  - { id: a b, tools: [t], action: deny }',
      '3:7 /rules/0/id: "a b" must be 1 to 64 letters, digits, dots, underscores or dashes',
    )
    wrong(
      'an id that appears twice',
      'version: 1\nrules:\n  - { id: a, tools: [t], action: deny }\n  - { id: a, tools: [t], action: deny }',
      '4:7 /rules/1/id: "a" is already the id of rules/0',
    )
    wrong('no tools', rule('tools: []', 'action: deny'), '4:5 /rules/0/tools: must not be empty')
    wrong('a tool without a name', rule('tools: [""]', 'action: deny'), '4:13 /rules/0/tools/0: must not be empty')
    wrong('a tool twice', rule('tools: [t, u, t]', 'action: deny'), '4:5 /rules/0/tools: holds "t" twice')
    wrong('tools that are one text', rule('tools: t', 'action: deny'), '4:5 /rules/0/tools: must be a list, is "t"')
    wrong('enabled by a word', asks('enabled: "no"'), '6:5 /rules/0/enabled: must be true or false, is "no"')
    wrong('a long message', asks(`message: ${'x'.repeat(501)}`), '6:5 /rules/0/message: has more than 500 characters')
    wrong(
      'on_violation without checks',
      asks('on_violation: confirm'),
      '3:5 /rules/0: on_violation has no meaning without the key "checks" or "only"',
    )
    wrong(
      'an on_violation that lets through',
      asks('on_violation: allow', 'checks: [{ size: { max_bytes: 1 } }]'),
      '6:5 /rules/0/on_violation: must be one of deny, confirm, shadow_deny; is "allow"',
    )
    wrong(
      'checks of a denial',
      rule('tools: [t]', 'action: deny', 'checks: [{ size: { max_bytes: 1 } }]'),
      '6:5 /rules/0/checks: cannot stand with action deny or shadow_deny; name what may pass in a rule that allows it, or use when',
    )
  })
})
