import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { RuleView } from '../../../../plugins/mcp/rule-from-call/routes.ts'
import { type McpClient, type McpService, resultOf, startMcp } from '../../../kit/mcp.ts'

/** Asks for a call that needs consent; gives the id of the question. */
const asked = async (client: McpClient, tool: string, args: object): Promise<string> => {
  const { structuredContent } = resultOf(await client.call(tool, args))
  return String((structuredContent as { readonly approval_id: unknown }).approval_id)
}

const shown = async (service: McpService, id: string, width = 'narrow'): Promise<RuleView> => {
  const { status, json, text } = await service.gateway.request('GET', `/api/v1/mcp/approvals/${id}/rule?width=${width}`)
  assert.equal(status, 200, text)
  return json as RuleView
}
const written = (service: McpService, id: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
  service.gateway.request('POST', `/api/v1/mcp/approvals/${id}/rule`, body, headers)

const passes = async (client: McpClient, tool: string, args: object): Promise<boolean> => {
  const { structuredContent, isError } = resultOf(await client.call(tool, args))
  return isError !== true && structuredContent === undefined
}

const POLICY = `# ours
version: 1
default: confirm # ask
rules:
  # writing
  - id: ask   # two tools
    tools: [write_file, edit_file]
    action: confirm
    message: Writes {arguments.path}
    checks: [{ path: { args: [/path], inside: [.], optional: true } }]
  - { id: run, tools: [run], action: confirm }
tests:
  - { call: { tool: edit_file }, expect: confirm }   # stays
`

describe('a rule made of a call', () => {
  it('for the same file or its folder goes into the policy, which asks about all else and keeps its comments', async () => {
    await using service = await startMcp({ policy: POLICY })
    const client = await service.session()
    // its list names no arguments
    await client.request('tools/list')
    const id = await asked(client, 'write_file', { path: 'notes/a.md', content: 'x' })
    const narrow = await shown(service, id)
    assert.match(narrow.yaml, /- id: write_file-like\n.*tools: \[ write_file \]/)
    assert.match(narrow.yaml, /path: \{ args: \[ \/path \], inside: \[ notes\/a\.md \], cwd: \., deny: secrets \}/)
    assert.deepEqual(narrow.changes, [
      'rule "ask" no longer names write_file, so that it does not ask about it',
      'the new rule is about every server, as the one that asked',
    ])
    assert.deepEqual([narrow.stuck, narrow.preview?.calls, narrow.preview?.looser], [[], 1, 1])
    const wide = await shown(service, id, 'wide')
    assert.match(wide.yaml, /inside: \[ notes \]/)
    const { status, text } = await written(service, id, { width: 'wide', policy_version: wide.policy_version })
    assert.equal(status, 200, text)
    const policy = await readFile(join(service.folder, 'policy.yml'), 'utf8')
    assert.equal(policy, wide.after)
    for (const kept of [
      '# ours',
      'default: confirm # ask',
      '  # writing',
      '- id: ask   # two tools',
      '  - { call: { tool: edit_file }, expect: confirm }   # stays',
    ])
      assert.ok(policy.includes(kept), kept)
    assert.match(
      policy,
      /arguments: \{ path: notes\/a\.md, content: x \} \}, expect: allow, rule: write_file-like \}\n$/,
    )
    assert.equal(await passes(client, 'write_file', { path: 'notes/b.md', content: 'y' }), true)
    assert.equal(await passes(client, 'write_file', { path: 'notes/../b.md', content: 'y' }), false)
    const denied = resultOf(await client.call('write_file', { path: '../b.md', content: 'y' }))
    assert.match(JSON.stringify(denied), /Denied by rule 'ask-bounds'/)
    const next = await asked(client, 'write_file', { path: 'other/b.md', content: 'y' })
    const longer = await shown(service, next, 'wide')
    assert.deepEqual([longer.changes, longer.stuck], [['the lists of rule "write_file-like" are longer'], []])
    assert.match(longer.yaml, /inside: \[ notes, other \]/)
    assert.equal((await written(service, next, { width: 'wide' })).status, 200)
    assert.equal(await passes(client, 'write_file', { path: 'other/c.md' }), true)
    await asked(client, 'write_file', { path: 'notes/b.md', content: 'y', mode: 'append' })
    await asked(client, 'edit_file', { path: 'notes/b.md' })
  })

  it('for a command, an address or a value that no check can judge asks about every other one', async () => {
    await using service = await startMcp({ policy: POLICY })
    const client = await service.session()
    const cases = [
      [
        'run',
        { command: 'npm test' },
        { command: 'npm test; rm x' },
        /shell: \{ args: \[ \/command \], allow: \[ \{ command: npm test, end: true \} \] \}/,
      ],
      [
        'get',
        { url: 'https://docs.example.com/a' },
        { url: 'https://www.example.com/a' },
        /hosts: \[ docs\.example\.com \]/,
      ],
      ['evaluate', { code: '1 + 1' }, { code: '1 + 2' }, /const: 1 \+ 1/],
      ['click', { target: 'e1' }, { target: 'e2' }, /const: e1/],
    ] as const
    for (const [tool, args, other, expected] of cases) {
      const id = await asked(client, tool, args)
      const { yaml, stuck, changes } = await shown(service, id)
      assert.deepEqual(stuck, [])
      assert.match(yaml, expected)
      assert.deepEqual(
        changes.filter((change) => !change.startsWith('the new rule is about')),
        tool === 'run' ? ['rule "run" is switched off: the new one asks in its place'] : [],
      )
      assert.equal((await written(service, id, {})).status, 200)
      assert.equal(await passes(client, tool, args), true, tool)
      const next = await asked(client, tool, other)
      if (tool === 'get')
        assert.match((await shown(service, next)).yaml, /hosts: \[ docs\.example\.com, www\.example\.com \]/)
    }
  })

  it('is not written without the key, over another policy, for a stricter rule, or where nothing could be written', async () => {
    const policy = 'version: 1\nrules:\n  - { id: all, tools: ["*"], action: confirm }\n'
    await using service = await startMcp({ policy, mcp: 'approver_key: approver_key_of_the_test' })
    const client = await service.session()
    const id = await asked(client, 'write_file', { path: 'a' })
    const key = { 'x-guard-approver-key': 'approver_key_of_the_test' }
    assert.equal((await written(service, id, {})).status, 401)
    const { stuck, after } = await shown(service, id)
    assert.match(stuck.join(), /rule "all" names the tool by a pattern/)
    assert.equal(after, null)
    const refused = await written(service, id, {}, key)
    assert.deepEqual([refused.status, /RULE_NOT_WRITABLE/.test(refused.text)], [409, true])
    const named = policy.replace('"*"', 'write_file')
    await service.policy(
      `${named}tests:\n  - { call: { tool: write_file, arguments: { path: a } }, expect: confirm }\n`,
    )
    assert.match((await shown(service, id)).stuck.join(), /a test of the policy would fail/)
    await service.policy(named)
    assert.equal((await written(service, id, { policy_version: 'other' }, key)).status, 409)
    const file = join(service.folder, 'policy.yml')
    const { mode } = await stat(file)
    assert.equal((await written(service, id, {}, key)).status, 200)
    assert.equal((await stat(file)).mode, mode)
  })

  it('is not made of arguments that are gone, or of a name that hides something', async () => {
    await using service = await startMcp({ policy: 'version: 1\ndefault: confirm\nrules: []\n' })
    const client = await service.session()
    for (const name of ['get_\u202egpj', '\u001b[8mget', 'get\ud800', '*', 'get_**']) {
      const hidden = await asked(client, name, { path: 'a' })
      const { stuck, after } = await shown(service, hidden)
      assert.match(stuck.join(), /its name is not on record/)
      assert.equal(after, null)
    }
    const secret = await asked(client, 'send', { text: 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ' })
    const redacted = await service.gateway.request('GET', `/api/v1/mcp/approvals/${secret}/rule`)
    assert.deepEqual([redacted.status, /ARGUMENTS_NOT_KEPT/.test(redacted.text)], [409, true])
    const id = await asked(client, 'write_file', { path: 'a' })
    await service.gateway.request('POST', `/api/v1/mcp/approvals/${id}`, { action: 'deny' })
    const gone = await service.gateway.request('GET', `/api/v1/mcp/approvals/${id}/rule`)
    assert.deepEqual([gone.status, /full_content_logging/.test(gone.text)], [409, true])
    assert.equal((await service.gateway.request('GET', '/api/v1/mcp/approvals/apr_none/rule')).status, 404)
  })
})
