import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openMcp } from 'guard-gateway/plugins/mcp'
import { initialize, type McpService, resultOf, startMcp } from '../../../kit/mcp.ts'
import { mcpRun } from '../../../kit/mcp-run.ts'
import { sendJson } from '../../../kit/mcp-upstream.ts'

type Headers = Readonly<Record<string, string>>
interface Tool {
  readonly name: string
  readonly outputSchema?: object
}

const named = (name: string) => ({
  ...initialize(),
  params: { ...initialize().params, clientInfo: { name, version: '1' } },
})

/** A session of a client that calls itself so. */
const session = async (service: McpService, name: string, headers: Headers = {}) => {
  const { headers: got, text } = await service.post(named(name), headers)
  const id = got.get('mcp-session-id')
  assert.ok(id !== null, text)
  const own = { ...headers, 'mcp-session-id': id }
  let made = 0
  const request = (method: string, params: object = {}) =>
    service.post({ jsonrpc: '2.0', id: ++made, method, params }, own)
  return {
    tools: async () => resultOf(await request('tools/list')).tools as readonly Tool[],
    /** Whether a call is forwarded. */
    passes: async (tool: string) => {
      const { isError = false } = resultOf(await request('tools/call', { name: tool, arguments: {} }))
      return isError === false
    },
  }
}

const look = (tools: readonly Tool[]) =>
  tools.map(({ name, outputSchema }) => `${name} ${Object.keys(outputSchema ?? {}).join(' ')}`.trim())

const only = (tool: string, when: string) => `  - { id: ${tool}, tools: [${tool}], action: allow, when: { ${when} } }\n`

describe('who asks', () => {
  it('decides which tools are seen: a list made for one client is not shown to another', async () => {
    await using service = await startMcp({
      policy: `version: 1
default: allow
hide_denied_tools: true
rules:
  - { id: not-for-ci, tools: [echo], action: deny, when: { agents: [ci] } }
  - { id: ask-codex, tools: [add], action: confirm, when: { clients: [codex] } }
`,
    })
    const tools = [
      { name: 'echo', inputSchema: {} },
      { name: 'add', inputSchema: {}, outputSchema: { type: 'object', properties: {} } },
    ]
    service.upstream.answering = ({ message }, response) =>
      message?.method === 'tools/list' &&
      sendJson(response, JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { tools } }))
    const ci = await session(service, 'claude', { 'x-guard-agent-id': 'ci' })
    const codex = await session(service, 'codex')
    const other = await session(service, 'claude')
    for (let again = 0; again < 2; again++) {
      assert.deepEqual(look(await ci.tools()), ['add type properties'])
      assert.deepEqual(look(await codex.tools()), ['echo', 'add type anyOf'])
      assert.deepEqual(look(await other.tools()), ['echo', 'add type properties'])
    }
  })

  it('is told over HTTP by headers, initialize and the key', async () => {
    const policy = `version: 1\ndefault: deny\nrules:
${only('by_agent', 'agents: [ci]')}${only('by_project', 'projects: [shop]')}${only('by_session', 'sessions: [night]')}${only('by_client', 'clients: [codex]')}${only('by_name', 'keys: [build]')}${only('by_gateway', 'keys: [gateway]')}${only('by_id', 'keys: ["gk_*"]')}`
    await using service = await startMcp({ policy })
    const { gateway } = service
    const made = async (path: string, body: object, name: string): Promise<Headers> => {
      const { json, text } = await gateway.request('POST', path, body)
      const key = (json as Readonly<Record<string, string>>)[name]
      assert.ok(key, text)
      return { authorization: `Bearer ${key}` }
    }
    const build = await made('/api/keys', { name: 'build', scopes: ['mcp'] }, 'key')
    const agent = await made('/api/agents', { id: 'ci' }, 'key')
    const passing = async (client: string, headers: Headers) => {
      const { passes } = await session(service, client, headers)
      const tools = ['by_agent', 'by_project', 'by_session', 'by_client', 'by_name', 'by_gateway', 'by_id']
      const passed = await Promise.all(tools.map(passes))
      return tools.filter((_tool, at) => passed[at])
    }
    const all = { 'x-guard-agent-id': 'ci', 'x-guard-project-id': 'shop', 'x-guard-session-id': 'night' }
    assert.deepEqual(await passing('codex', all), ['by_agent', 'by_project', 'by_session', 'by_client', 'by_gateway'])
    assert.deepEqual(await passing('other', build), ['by_name'])
    // the agent of a key cannot be another one
    assert.deepEqual(await passing('other', { ...agent, 'x-guard-agent-id': 'x' }), ['by_agent', 'by_id'])

    const { json } = await gateway.request('GET', '/api/v1/mcp/events?tool=by_name&action=allow')
    const { events } = json as { readonly events: readonly { readonly caller: { readonly key: readonly string[] } }[] }
    const { key, ...caller } = events[0]?.caller ?? { key: [] }
    assert.deepEqual(caller, { agent: null, project: 'default', session: null, client: 'other' })
    assert.deepEqual([key.length, key[1]], [2, 'build'])
    const page = await gateway.request('GET', '/mcp?tool=by_name&action=allow')
    assert.ok(page.text.includes('asked by project default, client other, key build'))

    const yaml = `version: 1\nrules:\n${only('t', 'keys: [build, gateway, nobody]')}`
    const { json: validation } = await gateway.request('POST', '/api/v1/mcp/policies/validate', { yaml })
    const { warnings } = validation as {
      readonly warnings: readonly { readonly code: string; readonly path: string }[]
    }
    assert.deepEqual(
      warnings.filter(({ code }) => code === 'KEY_UNKNOWN').map(({ path }) => path),
      ['/rules/0/when/keys/2'],
    )
  })

  it('is told by the flags of guard mcp run, and by initialize', async () => {
    const policy = `version: 1\ndefault: deny\nrules:
${only('echo', 'agents: [ci], projects: [shop], sessions: [night], clients: [codex]')}${only('other', 'keys: ["*"]')}`
    const flags = ['--agent', 'ci', '--project', 'shop', '--session', 'night']
    const run = await mcpRun({ policy, flags })
    const ask = async (id: number, name: string) => {
      run.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: {} } }))
      return run.next()
    }
    run.send(JSON.stringify(named('codex')))
    await run.next()
    assert.doesNotMatch(await ask(1, 'echo'), /Denied by/)
    assert.match(await ask(2, 'other'), /Denied by/)
    await run.close()
  })

  it('is told by whoever opens a session inside the process', async () => {
    const rule = {
      id: 'r',
      tools: ['t'],
      action: 'allow',
      when: { agents: ['ci'], keys: ['build'], clients: ['test'] },
    }
    const policy = { version: 1, rules: [rule] }
    await using service = await startMcp()
    const call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}'
    const answers = async (more: object) => {
      const opened = await openMcp(service.gateway.gateway, { server_id: 'up', policy, ...more })
      await opened.send(JSON.stringify(initialize()))
      return String(await opened.send(call))
    }
    assert.doesNotMatch(await answers({ agent_id: 'ci', key_names: ['akey_1', 'build'] }), /Denied/)
    assert.match(await answers({ agent_id: 'ci' }), /Denied/)
  })
})
