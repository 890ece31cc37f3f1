import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { runCli } from 'guard-gateway/plugins/cli'
import { foundation } from 'guard-gateway/presets/foundation'
import { commandKind, type Input } from '#lib/command'
import { policyCommands } from '../../../../plugins/mcp/policy/commands.ts'
import { size } from '../../../../plugins/mcp-checks/size.ts'
import { fakeIo } from '../../../kit/io.ts'
import { words } from './kit.ts'

const good = `version: 1
default: confirm
hide_denied_tools: true
rules:
  - id: small
    tools: [write]
    action: allow
    checks: [{ size: { max_bytes: 20 } }, { words: { args: [/text], bad: [secret] } }]
  - { id: off, enabled: false, tools: [write], action: deny }
  - { id: stars, tools: ["rm*"], action: deny, message: Not here. }
  - { id: once, tools: [write], action: allow, when: { arguments: { required: [once] } } }
  - id: mail
    tools: [mail]
    action: transform
    transform: { arguments: [{ remove: /bcc }] }
tests:
  - { call: { tool: write, arguments: { text: ok } }, expect: allow }
`

describe('the commands about policies', () => {
  let cwd = ''
  before(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'guard-policy-'))
    await writeFile(join(cwd, 'good.yml'), good)
    await writeFile(join(cwd, 'broken.yml'), good.replace('tools: [write]', 'tool: [write]'))
    await writeFile(join(cwd, 'failing.yml'), good.replace('expect: allow', 'expect: deny'))
    await writeFile(join(cwd, 'plain.yml'), 'version: 1\nrules:\n  - { id: a, tools: [write], action: deny }\n')
    const listed = { tools: [{ name: 'read', inputSchema: { properties: {} } }, { nameless: true }] }
    await writeFile(join(cwd, 'tools.json'), JSON.stringify({ jsonrpc: '2.0', id: 1, result: listed }))
    const when = '{ agents: [ci], projects: [shop], sessions: [night], clients: [codex], keys: [build] }'
    await writeFile(
      join(cwd, 'callers.yml'),
      `version: 1\nrules:\n  - { id: r, tools: [t], action: allow, when: ${when} }\n`,
    )
    await writeFile(join(cwd, 'arguments.json'), '{"text": "a secret"}')
  })
  after(() => rm(cwd, { recursive: true }))

  const run = async (...argv: readonly string[]) => {
    const io = fakeIo({ cwd })
    const gateway = new Gateway().use(...foundation(), size, words)
    for (const command of policyCommands(gateway)) gateway.registry(commandKind).add(command)
    const source = {
      version: '0',
      builtIn: async () => gateway,
      configured: async () => gateway,
      extended: async (_options: Input['options']) => false,
      address: async () => '',
    }
    const code = await runCli(argv, io, source)
    return { code, out: io.outText(), err: io.errText() }
  }
  const validate = (...argv: readonly string[]) => run('mcp', 'validate-policy', ...argv)
  const explain = (...argv: readonly string[]) => run('mcp', 'explain', '--policy', 'good.yml', ...argv)
  const WARNING =
    'good.yml:10:26  warning  GLOB_DENY_NOT_HIDDEN rule "stars" denies "rm*" without hiding it; only a tool\'s exact name leaves the list'

  describe('validate-policy', () => {
    it('prints warnings, tests and the version of a good one', async () => {
      const { code, out } = await validate('good.yml')
      assert.equal(code, 0)
      assert.match(out, /^valid {2}version [0-9a-f]{12}$/m)
      assert.deepEqual(out.split('\n').slice(0, 2), [WARNING, 'tests: 1 passed'])
    })
    it('fails for warnings where that was asked for', async () => {
      assert.deepEqual(await validate('good.yml', '--strict'), {
        code: 1,
        out: `${WARNING}\ntests: 1 passed\ninvalid\n`,
        err: '',
      })
      assert.equal((await validate('plain.yml', '--strict')).code, 0)
    })
    it('prints where a wrong one is wrong', async () => {
      assert.deepEqual(await validate('broken.yml'), {
        code: 1,
        out: 'broken.yml:6:5  error    rules/0: unknown key "tool"; did you mean "tools"?\ninvalid (tests not run)\n',
        err: '',
      })
    })
    it('prints which tests fail', async () => {
      const { code, out } = await validate('failing.yml')
      assert.equal(code, 1)
      assert.deepEqual(out.split('\n').slice(1), [
        'tests: 0 passed, 1 failed',
        '  ✗ write {"text":"ok"}  expected deny, got allow (rule small)',
        'invalid',
        '',
      ])
    })
    it('warns about tools that a server does not list', async () => {
      const { code, out } = await validate('plain.yml', '--tools', 'tools.json')
      assert.equal(code, 0)
      assert.match(
        out,
        /^plain\.yml:3:22 {2}warning {2}TOOL_NOT_SEEN rule "a" names the tool "write", which no server lists\ntests: none\nvalid /,
      )
    })
    it('prints one JSON document where that was asked for', async () => {
      const { code, out } = await validate('broken.yml', '--json')
      assert.equal(code, 1)
      assert.deepEqual(JSON.parse(out), {
        valid: false,
        version: null,
        errors: [
          {
            code: 'INVALID_POLICY',
            path: '/rules/0',
            line: 6,
            column: 5,
            message: 'unknown key "tool"; did you mean "tools"?',
          },
        ],
        warnings: [],
        tests: [],
      })
    })
    it('says what it cannot read', async () => {
      assert.deepEqual(await validate('absent.yml'), {
        code: 2,
        out: '',
        err: 'error: The file absent.yml does not exist. (USAGE)\n',
      })
      assert.match((await validate('.')).err, /cannot be read/)
      assert.equal((await validate()).code, 2)
      assert.match((await validate('good.yml', '--tools', 'arguments.json')).err, /holds no list of tools/)
      assert.match((await validate('good.yml', '--tools', 'good.yml')).err, /INVALID_JSON/)
    })
  })

  describe('explain', () => {
    it('accounts for each rule', async () => {
      const { code, out } = await explain('--tool', 'write', '--server-id', 'fs', '--arguments', '@arguments.json')
      assert.equal(code, 0)
      assert.deepEqual(out.replace(/version [0-9a-f]{12}/, 'version X').split('\n'), [
        'deny  write on "fs" by small; not forwarded',
        'mode enforce, policy version X',
        '  * small  deny  /text says secret',
        '    off  silent  is not enabled',
        '    stars  silent  names another tool or server',
        '    once  silent  its condition does not hold',
        '    mail  silent  names another tool or server',
        '',
      ])
    })
    it('is asked for a caller by flags', async () => {
      const flags = ['--agent', 'ci', '--project', 'shop', '--session', 'night', '--client', 'codex', '--key', 'build']
      const who = (...given: readonly string[]) =>
        run('mcp', 'explain', '--policy', 'callers.yml', '--tool', 't', ...given)
      assert.match((await who(...flags)).out, /^allow {2}t on "test" by r; forwarded\n/)
      for (let at = 0; at < flags.length; at += 2) {
        const { out } = await who(...flags.toSpliced(at, 2))
        assert.match(out, /^deny .*\n(?:.*\n)* {4}r {2}silent {2}is for other callers$/m, flags[at])
      }
    })
    it('shows what is sent in place of the arguments', async () => {
      const { out } = await explain('--tool', 'mail', '--arguments', '{"to": "a", "bcc": "b"}')
      assert.match(out, /^transform {2}mail on "test" by mail; forwarded\n/)
      assert.match(out, /^ {2}\* mail {2}transform {2}has no checks\nsends \{"to": "a"\}$/m)
    })
    it('prints one JSON document where that was asked for', async () => {
      const { verdict, forwarded, rules } = JSON.parse((await explain('--tool', 'other', '--json')).out)
      assert.deepEqual([verdict.action, forwarded, rules.length], ['confirm', false, 5])
    })
    it('says what it cannot use', async () => {
      assert.match((await explain()).err, /Say which: --tool <name>/)
      assert.match((await explain('--tool', 't', '--arguments', '[]')).err, /are a JSON object/)
      assert.match((await explain('--tool', 't', '--arguments', '{"a":1,"a":2}')).err, /appears twice/)
      const { code, err } = await run('mcp', 'explain', '--policy', 'broken.yml', '--tool', 't')
      assert.equal(code, 78)
      assert.match(err, /broken\.yml:6:5: rules\/0: unknown key "tool"/)
    })
  })
})
