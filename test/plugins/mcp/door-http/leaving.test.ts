import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { type McpClient, type McpService, startMcp } from '../../../kit/mcp.ts'
import { beginEvents } from '../../../kit/mcp-upstream.ts'

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
})
