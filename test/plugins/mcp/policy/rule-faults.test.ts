import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Gateway } from 'guard-gateway/core'
import { loadPolicy } from '../../../../plugins/mcp/policy/load.ts'
import { openGateway } from './kit.ts'

describe('a wrong part of a rule is shown by line, column and what to do', () => {
  let gateway: Gateway
  before(async () => {
    gateway = await openGateway()
  })
  after(() => gateway.close())

  const wrong = (what: string, lines: readonly string[], ...expected: readonly string[]): void => {
    it(what, async () => {
      const text = ['version: 1', 'rules:', '  - id: a', '    tools: [t]', ...lines.map((line) => `    ${line}`)].join(
        '\n',
      )
      const { errors } = await loadPolicy(gateway, { text }, { env: { SET: 'x', EMPTY: '' } })
      const told = errors.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`)
      assert.deepEqual(told, expected)
    })
  }
  const check = (text: string) => ['action: allow', `checks: [${text}]`]
  const change = (text: string) => ['action: transform', `transform: { arguments: [${text}] }`]
  const limit = (text: string) => ['action: rate_limit', `limit: ${text}`]

  describe('checks', () => {
    wrong('none', check(''), '6:5 /rules/0/checks: must not be empty')
    wrong(
      'one that is not registered',
      check('{ sizes: { max_bytes: 1 } }'),
      '6:16 /rules/0/checks/0: unknown check "sizes"; did you mean "size"?',
    )
    wrong(
      'one that is like none',
      check('{ antivirus: {} }'),
      '6:16 /rules/0/checks/0: unknown check "antivirus"; there is size, words',
    )
    wrong(
      'two in one element',
      check('{ size: { max_bytes: 1 }, words: { args: [/a], bad: [b] } }'),
      '6:14 /rules/0/checks/0: holds size and words; write a list element for each of them',
    )
    wrong('an empty element', check('{}'), '6:14 /rules/0/checks/0: must not be empty; there is size, words')
    wrong(
      'options that are none',
      check('{ size: { max_byte: 1 } }'),
      '6:16 /rules/0/checks/0/size: needs one of max_bytes, max_string_bytes, max_depth, max_items',
      '6:24 /rules/0/checks/0/size: unknown key "max_byte"; did you mean "max_bytes"?',
    )
    wrong(
      'a number too small',
      check('{ size: { max_bytes: 0 } }'),
      '6:24 /rules/0/checks/0/size/max_bytes: must be at least 1, is 0',
    )
    wrong(
      'a number too large',
      check('{ size: { max_depth: 129 } }'),
      '6:24 /rules/0/checks/0/size/max_depth: must be at most 128, is 129',
    )
    wrong(
      'a broken number',
      check('{ size: { max_bytes: 1.5 } }'),
      '6:24 /rules/0/checks/0/size/max_bytes: must be a whole number, is 1.5',
    )
    wrong(
      'a name in place of a pointer',
      check('{ words: { args: [path], bad: [b] } }'),
      '6:32 /rules/0/checks/0/words/args/0: "path" is no JSON pointer; write /path, or /paths/* for every element of a list',
    )
    wrong(
      'a pointer to everything',
      check('{ words: { args: [""], bad: [b] } }'),
      '6:32 /rules/0/checks/0/words/args/0: "" is no JSON pointer; write /path, or /paths/* for every element of a list',
    )
    wrong(
      'a missing option',
      check('{ words: { args: [/a] } }'),
      '6:16 /rules/0/checks/0/words: the key "bad" is missing',
    )
  })

  describe('limits', () => {
    wrong('none', ['action: rate_limit'], '3:5 /rules/0: the key "limit" is missing; the action rate_limit needs it')
    wrong(
      'of another action',
      ['action: deny', 'limit: { calls: 1, per: 1s }'],
      '6:5 /rules/0/limit: stands with action rate_limit only',
    )
    wrong('no calls', limit('{ calls: 0, per: 1s }'), '6:14 /rules/0/limit/calls: must be at least 1, is 0')
    wrong(
      'too many calls',
      limit('{ calls: 10001, per: 1s }'),
      '6:14 /rules/0/limit/calls: must be at most 10000, is 10001',
    )
    for (const per of ['60', '0s', '1w', '-1s', '1.5h', '1000000s']) {
      wrong(
        `a duration written ${per}`,
        limit(`{ calls: 1, per: "${per}" }`),
        `6:24 /rules/0/limit/per: "${per}" is no duration; write a number and ms, s, m, h or d, such as 60s`,
      )
    }
    wrong(
      'another key',
      limit('{ calls: 1, per: 1s, key: fingerprint }'),
      '6:33 /rules/0/limit/key: must be one of session, server, tool, agent, project, client, key; is "fingerprint"',
    )
  })

  describe('changes', () => {
    wrong('none', ['action: transform'], '3:5 /rules/0: the key "transform" is missing; the action transform needs it')
    wrong(
      'of another action',
      ['action: allow', 'transform: { arguments: [{ remove: /a }] }'],
      '6:5 /rules/0/transform: stands with action transform only',
    )
    wrong('an empty list', change(''), '6:18 /rules/0/transform/arguments: must not be empty')
    wrong(
      'two in one element',
      change('{ remove: /a, set: { /b: 1 } }'),
      '6:30 /rules/0/transform/arguments/0: holds remove and set; write a list element for each of them',
    )
    wrong(
      'one that is none',
      change('{ delete: /a }'),
      '6:32 /rules/0/transform/arguments/0: unknown key "delete"; there is remove, set, clamp, redact',
    )
    wrong(
      'a name in place of a pointer',
      change('{ set: { dry_run: true } }'),
      '6:32 /rules/0/transform/arguments/0/set: "dry_run" is no JSON pointer; write /path, or /paths/* for every element of a list',
    )
    wrong(
      'a clamp without bounds',
      change('{ clamp: { /n: {} } }'),
      '6:41 /rules/0/transform/arguments/0/clamp/~1n: must not be empty; there is min, max',
    )
    wrong(
      'bounds the wrong way round',
      change('{ clamp: { /n: { min: 2, max: 1 } } }'),
      '6:41 /rules/0/transform/arguments/0/clamp/~1n: min 2 is above max 1',
    )
    wrong(
      'a pattern that cannot run in linear time',
      change('{ redact: { pointer: /a, pattern: "(?=x)", with: y } }'),
      '6:55 /rules/0/transform/arguments/0/redact/pattern: is no RE2 pattern: error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
    )
    wrong(
      'a pattern that matches nothing at all, and so everywhere',
      change('{ redact: { pointer: /a, pattern: "x*", with: y } }'),
      '6:55 /rules/0/transform/arguments/0/redact/pattern: matches the empty text, and so everywhere',
    )
  })

  describe('conditions', () => {
    wrong(
      'no schema',
      ['action: deny', 'when: { arguments: { type: strin } }'],
      '6:13 /rules/0/when/arguments: is no JSON Schema: /type must be equal to one of the allowed values, /type must be array, /type must match a schema in anyOf',
    )
    wrong(
      'another dialect',
      ['action: deny', 'when: { arguments: { $schema: "http://json-schema.org/draft-04/schema#" } }'],
      '6:13 /rules/0/when/arguments: dialect not supported',
    )
    wrong(
      'a pattern that cannot run in linear time',
      ['action: deny', 'when: { arguments: { properties: { a: { pattern: "(?!x)" } } } }'],
      '6:13 /rules/0/when/arguments: "(?!x)" is no RE2 pattern',
    )
    wrong(
      'one with keywords that there are not, which would hold for everything',
      [
        'action: allow',
        'when: { arguments: { requird: [x], anyOf: [{ properties: { pattern: { patern: "^a" } } }] } }',
      ],
      '6:26 /rules/0/when/arguments: unknown keyword "requird" of JSON Schema; did you mean "required"?',
      '6:75 /rules/0/when/arguments/anyOf/0/properties/pattern: unknown keyword "patern" of JSON Schema; did you mean "pattern"?',
    )
    wrong(
      'an empty one',
      ['action: deny', 'when: {}'],
      '6:5 /rules/0/when: must not be empty; there is arguments, agents, projects, sessions, clients, keys',
    )
  })
})
