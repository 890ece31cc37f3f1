import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mcpHooks } from 'guard-gateway/plugins/mcp'
import { type McpAnswer, resultOf, startMcp } from '../../../kit/mcp.ts'
import { beginEvents, sendJson } from '../../../kit/mcp-upstream.ts'

const POLICY = `
version: 1
default: allow
hide_denied_tools: true
rules:
  - { id: never, tools: [delete_file], action: deny, message: Move it instead. }
  - { id: ask, tools: [write_file], action: confirm, message: "Writes {arguments.path}" }
  - { id: few, tools: [search], action: rate_limit, limit: { calls: 1, per: 60s } }
  - { id: safe, tools: [mail], action: transform, transform: { arguments: [ { remove: /bcc }, { set: { /dry: true } } ] } }
  - { id: trial, tools: [old], action: shadow_deny }
`
const textOf = ({ json }: McpAnswer): string =>
  (json?.result?.content as readonly { readonly text: string }[] | undefined)?.[0]?.text ?? ''

describe('calls of tools through the proxy', () => {
  it('4.5: are denied by a rule without being forwarded, and their tool is hidden', async () => {
    await using service = await startMcp({ policy: POLICY })
    const client = await service.session()
    const list = await client.request('tools/list')
    assert.deepEqual(
      (resultOf(list).tools as { name: string }[]).map(({ name }) => name),
      ['read_file', 'write_file'],
    )
    const denied = await client.call('delete_file', { path: 'a' })
    assert.equal(denied.status, 200)
    assert.equal(denied.json?.result?.isError, true)
    assert.equal(textOf(denied), "Denied by rule 'never'. Move it instead.")
    const unanswered = await client.post('{"jsonrpc":"2.0","method":"tools/call","params":{"name":"delete_file"}}')
    assert.deepEqual([unanswered.status, unanswered.json?.error?.code], [400, -32600])
    assert.equal(service.upstream.calls('tools/call').length, 0)
  })

  it('are forwarded with changed arguments alone where a rule transforms them', async () => {
    await using service = await startMcp({ policy: POLICY })
    const client = await service.session()
    await client.post(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call", "params":{"arguments":{"bcc":["x"], "n":12345678901234567890},"name":"mail"}}',
    )
    assert.equal(
      service.upstream.calls('tools/call')[0]?.raw,
      '{"jsonrpc":"2.0","id":1,"method":"tools/call", "params":{"arguments":{"n":12345678901234567890,"dry":true},"name":"mail"}}',
    )
  })

  it('are stopped over a limit, and forwarded on trial', async () => {
    await using service = await startMcp({ policy: POLICY })
    const client = await service.session()
    await client.call('search')
    assert.match(
      textOf(await client.call('search')),
      /^Rate limit of rule 'few' reached: 1 calls? per 60s\. Retry in \d+ s\.$/,
    )
    await client.call('old')
    assert.deepEqual(
      service.upstream.calls('tools/call').map(({ message }) => message?.params?.name),
      ['search', 'old'],
    )
  })

  it('4.5: are validated by the schema observed last, before the policy; without one they are not', async () => {
    await using service = await startMcp({ policy: POLICY })
    const client = await service.session()
    await client.call('read_file', { path: 7 })
    assert.equal(service.upstream.calls('tools/call').length, 1)
    await client.request('tools/list')
    const invalid = await client.call('read_file', { path: 7 })
    assert.deepEqual(
      [invalid.json?.result?.isError, textOf(invalid)],
      [true, "Invalid arguments for 'read_file': /path must be string. Not forwarded."],
    )
    assert.equal(service.upstream.calls('tools/call').length, 1)
  })

  it('pass unchanged in shadow mode, and what the policy says is on record', async () => {
    await using service = await startMcp({ policy: POLICY.replace('version: 1', 'version: 1\nmode: shadow') })
    const client = await service.session()
    const list = await client.request('tools/list')
    assert.equal((resultOf(list).tools as unknown[]).length, 3)
    const sent = '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"mail","arguments":{"bcc":[]}}}'
    await client.post(sent)
    assert.equal((await client.call('delete_file')).json?.result?.isError, undefined)
    assert.equal(service.upstream.calls('tools/call')[0]?.raw, sent)
    const { json } = await service.gateway.request('GET', '/api/v1/mcp/events?kind=decision')
    const told = (json as { events: { tool: string; action: string; forwarded: boolean; mode: string }[] }).events
    assert.deepEqual(
      told.map(({ tool, action, forwarded, mode }) => [tool, action, forwarded, mode]),
      [
        ['delete_file', 'deny', true, 'shadow'],
        ['mail', 'transform', true, 'shadow'],
      ],
    )
  })

  it('4.5: are judged by the policy as the file says it now, and clients learn of another list', async () => {
    await using service = await startMcp({ policy: POLICY })
    const client = await service.session()
    service.upstream.answering = ({ method }, response) => method === 'GET' && beginEvents(response).write(': on\n\n')
    const stream = await client.fetch('GET')
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
    await reader?.read()
    await client.request('tools/list')
    await service.policy(
      'version: 1\ndefault: allow\nhide_denied_tools: true\nrules: [{ id: r, tools: [read_file], action: deny }]\n',
    )
    assert.equal((await client.call('delete_file')).json?.result?.isError, undefined)
    assert.match((await reader?.read())?.value ?? '', /notifications\/tools\/list_changed/)
    assert.match(textOf(await client.call('read_file', { path: 'a' })), /^Denied by rule 'r'/)
    await service.policy('version: 1\nrules: [broken')
    assert.match(textOf(await client.call('read_file', { path: 'a' })), /^Denied by rule 'r'/)
    await reader?.cancel()
  })

  it('can be stopped by a plugin, and one that fails counts as a no', async () => {
    await using service = await startMcp({ policy: POLICY })
    const client = await service.session()
    mcpHooks(service.gateway.gateway).call.tap('test', ({ tool }) => {
      if (tool === 'broken') throw new Error('faulty')
      return tool === 'stopped' ? { rule_id: 'mine', action: 'deny', reason: 'not on a Sunday' } : undefined
    })
    assert.equal(textOf(await client.call('stopped')), "Denied by rule 'mine': not on a Sunday.")
    assert.match(textOf(await client.call('broken')), /^Denied by rule 'plugin': a plugin could not judge the call/)
    assert.equal((await client.call('fine')).json?.result?.isError, undefined)
  })

  it('4.5: are on record in a run of Replay, with the end of what was forwarded', async () => {
    await using service = await startMcp({ policy: POLICY })
    const client = await service.session({ 'x-guard-project-id': 'tools', 'x-guard-session-id': 's1' })
    service.upstream.answering = ({ message }, response) =>
      message?.params?.name === 'failing' &&
      sendJson(response, JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { content: [], isError: true } }))
    await client.call('failing')
    await client.call('delete_file')
    const { json } = await service.gateway.request('GET', '/api/v1/mcp/events?kind=decision')
    const [second, first] = (json as { events: { trace_id: string; outcome: string; forwarded: boolean }[] }).events
    assert.deepEqual(
      [first?.outcome, first?.forwarded, second?.outcome, second?.forwarded],
      ['tool_error', true, 'none', false],
    )
    const run = await service.gateway.request('GET', `/api/v1/runs/${first?.trace_id}`)
    const { spans } = run.json as { spans: { name: string; status: string; events: { name: string }[] }[] }
    const calls = spans.filter(({ name }) => name === 'tool.call')
    assert.deepEqual(
      calls.map(({ status }) => status),
      ['error', 'error'],
    )
    assert.ok(run.text.includes('policy.decision'))
  })
})
