import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Gateway } from 'guard-gateway/core'
import { loadPolicy } from '../../../../plugins/mcp/policy/load.ts'
import { openGateway } from './kit.ts'

describe('a wrong test or member of a policy is shown by line, column and what to do', () => {
  let gateway: Gateway
  before(async () => {
    gateway = await openGateway()
  })
  after(() => gateway.close())

  const wrong = (what: string, text: string, ...expected: readonly string[]): void => {
    it(what, async () => {
      const { errors } = await loadPolicy(gateway, { text: `version: 1\nrules: []\n${text}` }, { env: {} })
      assert.deepEqual(
        errors.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`),
        expected,
      )
    })
  }
  const one = (text: string): string => `tests:\n  - ${text}`

  wrong('tests that are no list', 'tests: {}', '3:1 /tests: must be a list, is a map of keys')
  wrong('a test that is none', one('x'), '4:5 /tests/0: must be a map of keys, is "x"')
  wrong('no call', one('{ expect: deny }'), '4:5 /tests/0: the key "call" is missing')
  wrong('no expectation', one('{ call: { tool: t } }'), '4:5 /tests/0: the key "expect" is missing')
  wrong('no tool', one('{ call: {}, expect: deny }'), '4:7 /tests/0/call: the key "tool" is missing')
  wrong(
    'a key that is none',
    one('{ call: { tool: t }, expects: deny }'),
    '4:26 /tests/0: unknown key "expects"; did you mean "expect"?',
  )
  wrong(
    'a key of the call that is none',
    one('{ call: { tool: t, args: {} }, expect: deny }'),
    '4:24 /tests/0/call: unknown key "args"; there is server, tool, arguments, agent, project, session, client, key',
  )
  wrong(
    'an action that is none',
    one('{ call: { tool: t }, expect: block }'),
    '4:26 /tests/0/expect: must be one of allow, deny, confirm, transform, rate_limit, shadow_deny; is "block"',
  )
  wrong(
    'arguments that are no object',
    one('{ call: { tool: t, arguments: [] }, expect: deny }'),
    '4:24 /tests/0/call/arguments: must be a map of keys, is a list',
  )
  wrong(
    'no repetition',
    one('{ call: { tool: t }, expect: deny, repeat: 0 }'),
    '4:40 /tests/0/repeat: must be at least 1, is 0',
  )
  wrong(
    'too many repetitions',
    one('{ call: { tool: t }, expect: deny, repeat: 10002 }'),
    '4:40 /tests/0/repeat: must be at most 10001, is 10002',
  )
  wrong(
    'a rule that there is not',
    one('{ call: { tool: t }, expect: deny, rule: defualt }'),
    '4:40 /tests/0/rule: there is no rule "defualt"; did you mean "default"?',
  )
  for (const expect of ['deny', 'rate_limit'])
    wrong(
      `what is sent where the answer is ${expect}`,
      one(`{ call: { tool: t }, sends: {}, expect: ${expect} }`),
      `4:26 /tests/0/sends: a call with the answer ${expect} sends nothing`,
    )
  for (const number of ['.inf', '-.inf', '.nan'])
    wrong(`the number ${number}`, `mode: ${number}`, '3:7 : A number must be finite.')
  wrong('vars that are a list', 'vars: [a]', '3:1 /vars: must be a map of keys, is a list')
  wrong('a description that is none', 'description: [x]', '3:1 /description: must be text, is a list')
  wrong('a schema that is no text', '$schema: 1', '3:1 /$schema: must be text, is 1')
  wrong('a mode left empty', 'mode:', '3:1 /mode: must be one of enforce, shadow; is nothing')
  wrong('a tag', 'mode: !!binary aGk=', '3:7 : Unresolved tag: tag:yaml.org,2002:binary')
  wrong('two documents', '---\nversion: 1', '3:1 : A second document begins here; keep one of them.')
  wrong(
    'a key that is no text',
    '1: x',
    '3:1 : A key must be plain text; put a number or a word such as true in quotes.',
  )
  wrong(
    'a broken list',
    'tests: [',
    '3:9 : Flow sequence in block collection must be sufficiently indented and end with a ]',
  )
})
