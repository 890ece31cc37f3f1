import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mcpHooks } from 'guard-gateway/plugins/mcp'
import { initialize, startMcp } from '../../../kit/mcp.ts'
import { beginEvents, sendJson } from '../../../kit/mcp-upstream.ts'

describe('sessions of the HTTP server', () => {
  it('4.5: start with initialize, whose answer passes with a session id of our own', async () => {
    await using service = await startMcp()
    const { status, headers, text } = await service.post(initialize(), { 'mcp-session-id': 'ignored' })
    assert.equal(status, 200)
    assert.match(headers.get('mcp-session-id') ?? '', /^mcp_[A-Za-z0-9_-]{43}$/)
    assert.equal(
      text,
      '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"logging":{}},"serverInfo":{"name":"scripted","version":"1.0.0"}}}',
    )
    assert.equal(service.upstream.calls('initialize')[0]?.raw, JSON.stringify(initialize()))
  })

  it('know four revisions of MCP and no other', async () => {
    await using service = await startMcp()
    for (const version of ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])
      assert.notEqual((await service.post(initialize(version))).headers.get('mcp-session-id'), null, version)
    const { headers, json } = await service.post(initialize('2026-07-28'))
    assert.equal(headers.get('mcp-session-id'), null)
    assert.deepEqual(
      [json?.error?.code, json?.error?.data?.supported],
      [-32602, ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']],
    )
    await service.upstream.until('DELETE')
  })

  it('1.3: offer no tasks, either way', async () => {
    await using service = await startMcp()
    service.upstream.answering = ({ message }, response) =>
      message?.method === 'initialize' &&
      sendJson(
        response,
        '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tasks":{"list":{}},"tools":{}},"serverInfo":{"name":"s","version":"1"}}}',
      )
    const { text } = await service.post(
      '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{},"tasks":{}},"clientInfo":{"name":"t","version":"1"}}}',
    )
    assert.ok(text.includes('"capabilities":{"tools":{}}'), text)
    assert.ok(service.upstream.asked[0]?.raw.includes('"capabilities":{"roots":{}}'))
  })

  it('are dropped where the server refuses initialize', async () => {
    await using service = await startMcp()
    const refused = '{"jsonrpc":"2.0","id":0,"error":{"code":-32000,"message":"not today"}}'
    service.upstream.answering = ({ message }, response) =>
      message?.method === 'initialize' && sendJson(response, refused)
    const { text, headers } = await service.post(initialize())
    assert.deepEqual([text, headers.get('mcp-session-id')], [refused, null])
  })

  it('end with DELETE, here and at the server, once', async () => {
    await using service = await startMcp()
    const client = await service.session()
    const first = await client.fetch('DELETE')
    assert.deepEqual([first.status, await first.text()], [200, ''])
    const asked = await service.upstream.until('DELETE')
    assert.equal(asked.headers['mcp-session-id'], 'upstream-session-1')
    assert.equal((await client.fetch('DELETE')).status, 404)
    assert.equal((await client.request('ping')).status, 404)
  })

  it('end with DELETE whatever the server says', async () => {
    await using service = await startMcp()
    const client = await service.session()
    service.upstream.answering = ({ method }, response) => {
      if (method !== 'DELETE') return false
      response.writeHead(405).end()
      return true
    }
    assert.equal((await client.fetch('DELETE')).status, 200)
    assert.equal((await client.request('ping')).status, 404)
  })

  it('belong to one key and to one server', async () => {
    await using service = await startMcp({ servers: 'other: { transport: http, target: "http://127.0.0.1:9/mcp" }' })
    const issued = await service.gateway.request('POST', '/api/agents', { id: 'a1', project_id: 'px' })
    const { key } = issued.json as { key: string }
    const mine = await service.session({ authorization: `Bearer ${key}` })
    assert.equal((await mine.request('ping')).status, 200)
    const id = { 'mcp-session-id': mine.headers['mcp-session-id'] ?? '' }
    assert.equal((await service.post({ jsonrpc: '2.0', id: 1, method: 'ping' }, id)).status, 404)
    assert.equal(
      (
        await service.post(
          { jsonrpc: '2.0', id: 1, method: 'ping' },
          { ...id, authorization: `Bearer ${key}` },
          'other',
        )
      ).status,
      404,
    )
  })

  it('make room for a new one: the one that was idle longest ends; 503 where all are in use', async () => {
    await using service = await startMcp({ mcp: 'limits: { sessions: 2 }' })
    const [first, second] = [await service.session(), await service.session()]
    await first.request('ping')
    const third = await service.session()
    assert.equal((await second.request('ping')).status, 404)
    assert.equal((await first.request('ping')).status, 200)
    service.upstream.answering = ({ method }, response) => method === 'GET' && beginEvents(response).write(': on\n\n')
    const streams = await Promise.all([first.fetch('GET'), third.fetch('GET')])
    const full = await service.post(initialize())
    assert.deepEqual([full.status, full.headers.get('retry-after')], [503, '5'])
    await Promise.all(streams.map((stream) => stream.body?.cancel()))
  })

  it('refuse more requests on their way than may be', async () => {
    await using service = await startMcp({ mcp: 'limits: { pending: 2 }' })
    const client = await service.session()
    const held: (() => void)[] = []
    service.upstream.answering = ({ message }, response) => {
      if (message?.method !== 'x/held') return false
      held.push(() => sendJson(response, JSON.stringify({ jsonrpc: '2.0', id: message.id, result: {} })))
      return true
    }
    const waiting = [client.request('x/held'), client.request('x/held')]
    while (held.length < 2) await new Promise(setImmediate)
    const { status, json } = await client.request('x/held')
    assert.deepEqual([status, json?.error?.code, json?.error?.data?.code], [429, -32000, 'TOO_MANY_PENDING'])
    for (const release of held) release()
    for (const { status: done } of await Promise.all(waiting)) assert.equal(done, 200)
  })

  it('let plugins amend messages, and end a message where a plugin fails', async () => {
    await using service = await startMcp()
    const { frame } = mcpHooks(service.gateway.gateway)
    frame.tap('test', (came, { direction }) => {
      if (came.method === 'x/bad') throw new Error('a faulty plugin')
      return direction === 'to_client' ? { ...came, text: came.text.replace('"content"', '"amended"') } : came
    })
    const client = await service.session()
    assert.ok((await client.request('x/y')).text.includes('"amended"'))
    const { json } = await client.request('x/bad')
    assert.equal(json?.error?.code, -32603)
    assert.equal((await client.request('x/y')).status, 200)
  })
})
