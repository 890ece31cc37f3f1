import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { initialize, type McpClient, type McpService, resultOf, startMcp } from '../kit/mcp.ts'
import { beginEvents } from '../kit/mcp-upstream.ts'

describe('4.5 MCP: the transport', () => {
  let service: McpService
  let client: McpClient
  before(async () => {
    service = await startMcp({ mcp: 'allowed_origins: ["http://localhost:3000"]' })
    client = await service.session()
  })
  after(() => service[Symbol.asyncDispose]())

  it('POST /mcp/{server_id} carries JSON-RPC', async () => {
    const { status, json } = await client.request('tools/list')
    assert.equal(status, 200)
    assert.ok(Array.isArray(json?.result?.tools))
  })

  it('GET /mcp/{server_id} is the stream of events of the server', async () => {
    const event =
      'id: 1\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n\n'
    service.upstream.answering = ({ method }, response) => {
      if (method !== 'GET') return false
      beginEvents(response).end(event)
      return true
    }
    const response = await client.fetch('GET')
    assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'text/event-stream'])
    assert.equal(await response.text(), event)
    service.upstream.answering = () => false
  })

  it('DELETE /mcp/{server_id} ends the session, here and upstream', async () => {
    const other = await service.session()
    assert.equal((await other.fetch('DELETE')).status, 200)
    assert.equal((await other.request('ping')).status, 404)
    await service.upstream.until('DELETE')
  })

  it('rule 1: requests require the gateway key', async () => {
    for (const method of ['POST', 'GET', 'DELETE']) {
      const body = method === 'POST' ? JSON.stringify(initialize()) : undefined
      assert.equal((await service.fetch(method, body, { authorization: 'Bearer no' })).status, 401, method)
    }
    assert.equal(
      (await service.post(initialize(), { authorization: '', 'x-api-key': service.gateway.key })).status,
      200,
    )
  })

  it('rule 2: initialize returns Mcp-Session-Id, later requests must send it, and it stands for that of the upstream', async () => {
    const { headers } = await service.post(initialize())
    const id = headers.get('mcp-session-id') ?? ''
    assert.notEqual(id, '')
    for (const method of ['POST', 'GET', 'DELETE']) {
      const body = method === 'POST' ? '{"jsonrpc":"2.0","id":1,"method":"ping"}' : undefined
      assert.equal((await service.fetch(method, body)).status, 400, method)
      assert.notEqual((await service.fetch(method, body, { 'mcp-session-id': id })).status, 400, method)
    }
    assert.equal(service.upstream.calls('ping').at(-1)?.headers['mcp-session-id'], 'upstream-session-1')
  })

  it('rule 3: an Origin must be listed, and none is accepted', async () => {
    assert.equal((await service.post(initialize(), { origin: 'http://localhost:3000' })).status, 200)
    assert.equal((await service.post(initialize(), { origin: 'http://localhost:3001' })).status, 403)
    assert.equal((await service.post(initialize())).status, 200)
  })

  it('rule 4: notifications are taken with 202 and the version header follows the lifecycle', async () => {
    assert.equal((await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' })).status, 202)
    assert.equal(
      service.upstream.calls('notifications/initialized').at(-1)?.headers['mcp-protocol-version'],
      '2025-11-25',
    )
  })

  it('enforcement 1: request ids are preserved', async () => {
    for (const id of ['"a"', '7', '"7"', '12345678901234567891', '"\\u00e9"']) {
      const { text } = await client.post(`{"jsonrpc":"2.0","id":${id},"method":"x/y"}`)
      assert.ok(text.includes(`"id":${id === '"\\u00e9"' ? '"é"' : id}`), text)
    }
  })

  it('1.3: task-based execution is not implemented', async () => {
    assert.equal((await client.request('tasks/get', { taskId: 'x' })).json?.error?.code, -32601)
  })

  it('9.4: the targeted version of MCP is 2025-11-25', async () => {
    assert.equal(resultOf(await service.post(initialize('2025-11-25'))).protocolVersion, '2025-11-25')
  })
})

describe('2.8 configuration of MCP', () => {
  it('names servers, and lists them', async () => {
    await using service = await startMcp({ server: 'name: "The server"' })
    await service.session()
    const { json } = await service.gateway.request('GET', '/api/v1/mcp/servers')
    const [server] = (json as { servers: Record<string, unknown>[] }).servers
    assert.deepEqual(
      [server?.id, server?.name, server?.transport, server?.target, server?.status, server?.sessions],
      ['up', 'The server', 'http', service.upstream.url, 'ok', 1],
    )
  })

  it('hide_denied_tools: the key of the configuration holds where the policy says nothing', async () => {
    const policy = 'version: 1\ndefault: allow\nrules: [{ id: r, tools: [delete_file], action: deny }]\n'
    const names = async (options: Parameters<typeof startMcp>[0]) => {
      await using service = await startMcp({ policy, ...options })
      const client = await service.session()
      return (resultOf(await client.request('tools/list')).tools as { name: string }[]).map(({ name }) => name)
    }
    assert.deepEqual(await names({}), ['read_file', 'write_file', 'delete_file'])
    assert.deepEqual(await names({ config: 'hide_denied_tools: true' }), ['read_file', 'write_file'])
    assert.deepEqual(
      await names({ config: 'hide_denied_tools: true', policy: `${policy}hide_denied_tools: false\n` }),
      ['read_file', 'write_file', 'delete_file'],
    )
  })

  it('mcp.approval_timeout_seconds is what a question tells', async () => {
    await using service = await startMcp({
      policy: 'version: 1\ndefault: confirm\nrules: []\n',
      mcp: 'approval_timeout_seconds: 42',
    })
    const client = await service.session()
    assert.match((await client.call('x')).text, /Expires in 42 s/)
  })
})
