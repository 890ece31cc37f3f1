import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { after, afterEach, before, describe, it } from 'node:test'
import { mcpOf } from '../../../../plugins/mcp/mcp.ts'
import { initialize, type McpClient, type McpService, startMcp } from '../../../kit/mcp.ts'
import { beginEvents, sendJson } from '../../../kit/mcp-upstream.ts'

describe('calls of a client that leaves', () => {
  let service: McpService
  let client: McpClient
  before(async () => {
    service = await startMcp()
    client = await service.session()
  })
  after(() => service[Symbol.asyncDispose]())
  afterEach(() => {
    service.upstream.answering = () => false
  })

  it('are none where it leaves in the middle of its message: nothing is forwarded, and nothing is at fault', async () => {
    const { gateway, url, key } = service.gateway
    const faults: unknown[] = []
    gateway.hooks.fault.tap('test', (error) => void faults.push(error))
    const before = service.upstream.asked.length
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    const head = `POST /mcp/up HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\naccept: */*`
    const begun = `${head}\r\ncontent-length: 100\r\nmcp-session-id: ${client.headers['mcp-session-id']}\r\n\r\n{"jsonrpc"`
    await new Promise<void>((resolve) => void socket.write(begun, () => resolve()))
    socket.destroy()
    await once(socket, 'close')
    assert.equal((await client.request('x/y')).status, 200)
    assert.deepEqual([service.upstream.asked.length - before, faults], [1, []])
  })

  it('are not cancelled by a client that leaves: the call ends as it would, and its end is on record', async () => {
    const { promise: left, resolve: leave } = Promise.withResolvers<void>()
    let broken = false
    service.upstream.answering = ({ message }, response) => {
      if (message?.params?.name !== 'long') return false
      response.once('close', () => {
        broken = !response.writableFinished
      })
      beginEvents(response).write('data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n')
      void left.then(() => response.end('data: {"jsonrpc":"2.0","id":"gone","result":{"content":[]}}\n\n'))
      return true
    }
    const leaving = new AbortController()
    const response = await fetch(`${service.gateway.url}/mcp/up`, {
      method: 'POST',
      signal: leaving.signal,
      headers: {
        ...client.headers,
        authorization: `Bearer ${service.gateway.key}`,
        accept: '*/*',
        'content-type': 'application/json',
      },
      body: '{"jsonrpc":"2.0","id":"gone","method":"tools/call","params":{"name":"long"}}',
    })
    await response.body?.getReader().read()
    leaving.abort()
    leave()
    const outcome = async () => {
      const { json } = await service.gateway.request('GET', '/api/v1/mcp/events?tool=long')
      return (json as { events: { outcome: string | null }[] }).events[0]?.outcome
    }
    while ((await outcome()) === null) await new Promise(setImmediate)
    assert.deepEqual([await outcome(), broken], ['ok', false])
    assert.ok(!service.upstream.asked.some(({ raw }) => raw.includes('"requestId":"gone"')))
  })

  it('leave no session behind that no client knows of, nor one at the server whenever it answers', {
    timeout: 60_000,
  }, async () => {
    const sessions = () => mcpOf(service.gateway.gateway).sessions.size
    const before = sessions()
    const { promise: asked, resolve: ask } = Promise.withResolvers<ServerResponse>()
    service.upstream.answering = ({ message }, response) => {
      if (message?.method !== 'initialize') return false
      ask(response)
      return true
    }
    const leaving = new AbortController()
    const { url, key } = service.gateway
    const headers = {
      authorization: `Bearer ${key}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    }
    const body = JSON.stringify(initialize())
    const left = fetch(`${url}/mcp/up`, { method: 'POST', headers, body, signal: leaving.signal })
    const response = await asked
    leaving.abort()
    await assert.rejects(left)
    while (sessions() > before) await new Promise(setImmediate)
    const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'late', version: '1' } }
    sendJson(response, JSON.stringify({ jsonrpc: '2.0', id: 0, result }), 200, { 'mcp-session-id': 'late' })
    const ended = await service.upstream.until('DELETE')
    assert.equal(ended.headers['mcp-session-id'], 'late')
  })

  it('close the way to the server where the client can take the stream up again', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    service.upstream.answering = ({ message }, response) => {
      if (message?.method !== 'x/resumable') return false
      response.once('close', resolve)
      beginEvents(response).write('id: 1\ndata:\n\n')
      return true
    }
    const response = await client.fetch('POST', '{"jsonrpc":"2.0","id":"r","method":"x/resumable"}')
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    await closed
  })

  it('are lost on record where the session ends before the rest of their stream was fetched', {
    timeout: 60_000,
  }, async () => {
    const session = await service.session()
    const { promise: closed, resolve: close } = Promise.withResolvers<void>()
    const begun = 'id: 1\ndata:\n\n'
    service.upstream.answering = ({ message }, response) => {
      const tool = message?.params?.name
      if (tool === undefined) return false
      if (tool === 'left') response.once('close', close)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      if (tool === 'whole') response.end(begun)
      else response.write(begun)
      return true
    }
    const call = (name: string) =>
      session.fetch('POST', JSON.stringify({ jsonrpc: '2.0', id: name, method: 'tools/call', params: { name } }))
    assert.equal(await (await call('whole')).text(), begun)
    const reader = (await call('left')).body?.getReader()
    await reader?.read()
    await reader?.cancel()
    await closed
    const open = await call('open')
    assert.equal((await session.fetch('DELETE')).status, 200)
    assert.match(await open.text(), /"id":"open".*Upstream ended the stream without an answer/)
    const outcomes = async () => {
      const { json } = await service.gateway.request(
        'GET',
        `/api/v1/mcp/events?kind=decision&session_id=${session.headers['mcp-session-id']}`,
      )
      return (json as { events: { tool: string; outcome: string | null }[] }).events.map((one) => one.outcome)
    }
    while ((await outcomes()).includes(null)) await new Promise(setImmediate)
    assert.deepEqual(await outcomes(), ['lost', 'lost', 'lost'])
  })
})
