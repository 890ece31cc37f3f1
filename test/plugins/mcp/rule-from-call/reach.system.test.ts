import assert from 'node:assert/strict'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { RuleView } from '../../../../plugins/mcp/rule-from-call/routes.ts'
import { type McpService, resultOf, startMcp } from '../../../kit/mcp.ts'
import { sendJson } from '../../../kit/mcp-upstream.ts'

const TOKEN = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ'

/** What a policy that asks about everything makes of a call, widely. */
const wide = async (service: McpService, tool: string, args: object): Promise<string> => {
  const client = await service.session()
  const { structuredContent } = resultOf(await client.call(tool, args))
  const { approval_id } = structuredContent as { readonly approval_id: string }
  const { json } = await service.gateway.request('GET', `/api/v1/mcp/approvals/${approval_id}/rule?width=wide`)
  return (json as RuleView).yaml
}

/** Asks about `git status` by one rule or several; gives the rule that is made of it. */
const proposed = async (service: McpService, headers: Readonly<Record<string, string>> = {}): Promise<RuleView> => {
  const client = await service.session(headers)
  const { structuredContent } = resultOf(await client.call('run', { command: 'git status' }))
  const { approval_id } = structuredContent as { readonly approval_id: string }
  const { status, json, text } = await service.gateway.request('GET', `/api/v1/mcp/approvals/${approval_id}/rule`)
  assert.equal(status, 200, text)
  return json as RuleView
}

const started = (rules: string, tests = '') =>
  startMcp({ policy: `version: 1\ndefault: allow\nrules:\n${rules}${tests}` })

describe('calls beside the one that a rule is made of', () => {
  it('are asked about at other servers as before', async () => {
    await using service = await started('  - { id: ask, tools: [run], action: confirm }\n')
    const { after, changes } = await proposed(service)
    assert.match(changes.join(), /the new rule is about every server, as the one that asked/)
    const simulated = await service.gateway.request('POST', '/api/v1/mcp/policies/simulate', {
      yaml: String(after).concat(
        'tests:\n  - { call: { server: two, tool: run, arguments: { command: rm x } }, expect: confirm }\n',
      ),
    })
    assert.deepEqual([simulated.status, (simulated.json as { failed_tests: number }).failed_tests], [200, 0])
  })

  it('are asked about by several rules that are about other servers or callers, so that no one rule takes their place', async () => {
    for (const first of ['servers: [up]', 'when: { clients: [test] }']) {
      const rules = `  - { id: ask, tools: [run], ${first}, action: confirm }\n  - { id: all, tools: [run], action: confirm }\n`
      await using service = await started(rules)
      const { after, stuck } = await proposed(service)
      assert.match(stuck.join(), /rules "ask" and "all" ask about calls of other servers, callers or arguments/)
      assert.equal(after, null)
    }
  })

  it('are of other tools of a rule whose lists get longer, which are longer for this one alone', async () => {
    const rule = (tools: string) =>
      `  - { id: work, tools: ${tools}, action: allow, checks: [{ shell: { args: [/command], allow: [ls] } }], on_violation: confirm }\n`
    const tests = 'tests:\n  - { call: { tool: sudo, arguments: { command: git status } }, expect: confirm }\n'
    await using service = await started(rule('[run, sudo]'), tests)
    const { after, changes, stuck, rule_id } = await proposed(service)
    assert.deepEqual([stuck, rule_id], [[], 'work-more'])
    assert.deepEqual(changes, ['rule "work" no longer names run, whose rule is the same with longer lists'])
    assert.match(String(after), /id: work, tools: \[ sudo \]/)
    await using single = await started(rule('[run]'))
    assert.deepEqual((await proposed(single)).changes, ['the lists of rule "work" are longer'])
    await using pattern = await started(rule('["*"]'))
    assert.match((await proposed(pattern)).stuck.join(), /rule "work" names the tool by a pattern/)
  })

  it('have their results checked as the rule that asked does', async () => {
    for (const names of ['[run]', '[run, other]']) {
      await using service = await started(
        `  - { id: ask, tools: ${names}, action: confirm, results: [{ secrets: { action: deny } }] }\n`,
      )
      const { after, stuck } = await proposed(service)
      assert.deepEqual(stuck, [])
      await service.policy(String(after))
      service.upstream.answering = ({ message }, response) =>
        message?.method === 'tools/call' &&
        sendJson(
          response,
          JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { content: [{ type: 'text', text: TOKEN }] } }),
        )
      const client = await service.session()
      const { text } = await client.call('run', { command: 'git status' })
      assert.doesNotMatch(text, /api03/)
      assert.match(text, /looks like a secret/)
    }
  })

  it('are of other callers where a rule says whom it asks, and its test says who called', async () => {
    const rule = '  - { id: ask, tools: [run], when: { agents: [coder], clients: [test] }, action: confirm }\n'
    const test = 'tests:\n  - { call: { tool: run, agent: coder, client: test }, expect: confirm }\n'
    await using service = await started(rule, test)
    const { after, stuck } = await proposed(service, { 'x-guard-agent-id': 'coder' })
    assert.deepEqual(stuck, [])
    assert.match(
      String(after),
      /call: \{ server: up, tool: run, agent: coder, client: test, arguments: \{ command: git status \} \}, expect: allow/,
    )
    await using strict = await startMcp({ policy: `version: 1\nrules:\n${rule}` })
    assert.deepEqual((await proposed(strict, { 'x-guard-agent-id': 'coder' })).stuck, [])
  })

  it('are, where the rule is wide, of hosts below one and not beside it, and not of all files', async () => {
    await using service = await startMcp({ policy: 'version: 1\ndefault: confirm\nrules: []\n' })
    const hosts = {
      'https://example.co.uk/a': 'example.co.uk, "*.example.co.uk"',
      'https://user.github.io/a': 'user.github.io, "*.user.github.io"',
      'https://www.example.com/a': 'www.example.com, example.com, "*.example.com"',
      'https://93.184.216.34/a': '93.184.216.34',
    }
    for (const [url, expected] of Object.entries(hosts))
      assert.ok((await wide(service, 'get', { url })).includes(`hosts: [ ${expected} ]`), url)
    const files = { '/a.txt': '/a.txt', [join(homedir(), 'a.txt')]: join(homedir(), 'a.txt'), '/srv/x/a.txt': '/srv/x' }
    for (const [path, expected] of Object.entries(files))
      assert.ok((await wide(service, 'write_file', { path })).includes(`inside: [ ${expected} ]`), path)
  })
})
