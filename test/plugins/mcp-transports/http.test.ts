import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { McpServer } from 'guard-gateway/core'
import { http } from 'guard-gateway/plugins/mcp-transports/http'
import { eventsIn, mcpTransportConforms, transportFrame, transportSession } from '../../conformance/mcp-transport.ts'
import { beginEvents, mcpUpstream } from '../../kit/mcp-upstream.ts'

const serverAt = (target: string): McpServer => ({
  id: 'up',
  name: 'up',
  transport: 'http',
  target,
  headers: {},
  timeout_ms: 2_000,
  args: [],
  env: {},
})

mcpTransportConforms(http, async () => {
  const upstream = await mcpUpstream()
  return { server: serverAt(upstream.url), close: () => upstream.close() }
})

describe('the HTTP transport towards a server', () => {
  const PING = '{"jsonrpc":"2.0","id":1,"method":"x/y"}'

  it('reads no more of a stream than is asked for', async () => {
    const upstream = await mcpUpstream()
    let written = 0
    upstream.answering = (_asked, response) => {
      const event = `data: {"jsonrpc":"2.0","method":"x","params":{"a":"${'x'.repeat(60_000)}"}}\n\n`
      beginEvents(response)
      const more = (): void => {
        while (written < 2_000 && response.write(event)) written++
        if (written++ < 2_000) response.once('drain', more)
      }
      more()
      return true
    }
    const link = await http.open(serverAt(upstream.url), transportSession())
    const reply = await link.post(transportFrame(PING))
    assert.ok(reply.form === 'sse')
    const events = reply.events[Symbol.asyncIterator]()
    await events.next()
    let before = -1
    while (before !== written) {
      before = written
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    assert.ok(written < 1_000, `${written} events of 60 kB were taken from the server`)
    reply.stop()
    await link.end()
    await upstream.close()
  })

  it('ends a stream with an error for an event that is too large', async () => {
    const upstream = await mcpUpstream()
    upstream.answering = (_asked, response) => {
      beginEvents(response).end(`data: ${'x'.repeat(2_000)}\n\n`)
      return true
    }
    const link = await http.open(serverAt(upstream.url), transportSession({ frame_bytes: 1_000 }))
    await assert.rejects(async () => eventsIn(await link.post(transportFrame(PING))), RangeError)
    await link.end()
    await upstream.close()
  })

  it('refuses an answer that is too large', async () => {
    const upstream = await mcpUpstream()
    upstream.answering = (_asked, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(`{"a":"${'x'.repeat(2_000)}"}`)
      return true
    }
    const link = await http.open(serverAt(upstream.url), transportSession({ frame_bytes: 1_000 }))
    const reply = await link.post(transportFrame(PING))
    assert.deepEqual([reply.form, reply.form === 'failed' && reply.code], ['failed', 'UPSTREAM_FAILED'])
    await link.end()
    await upstream.close()
  })
})
