import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { http } from 'guard-gateway/plugins/mcp-transports/http'
import { undici } from 'guard-gateway/plugins/upstream-clients/undici'
import type { McpLink, McpServer } from '#lib/mcp-transport'
import {
  comingEvents,
  eventsIn,
  mcpTransportConforms,
  transportFrame,
  transportSession,
} from '../../conformance/mcp-transport.ts'
import { beginEvents, type McpAnswering, type McpUpstream, mcpUpstream, sendJson } from '../../kit/mcp-upstream.ts'

const serverAt = (target: string): McpServer => ({
  id: 'up',
  name: 'up',
  transport: 'http',
  target,
  headers: {},
  timeout_ms: 30_000,
  args: [],
  env: {},
})

const about = { connect: undici.connect }
mcpTransportConforms(
  http,
  async () => {
    const upstream = await mcpUpstream()
    return { server: serverAt(upstream.url), close: () => upstream.close() }
  },
  about,
  undici.id,
)

describe('the HTTP transport', () => {
  const PING = '{"jsonrpc":"2.0","id":1,"method":"x/y"}'
  const CHUNKED = '{"jsonrpc":"2.0","id":1,"result":{"a":1}}'
  const upstreams: McpUpstream[] = []
  const opened = async (answering: McpAnswering): Promise<McpLink> => {
    const upstream = await mcpUpstream()
    upstreams.push(upstream)
    upstream.answering = answering
    return http.open(serverAt(upstream.url), transportSession(about))
  }
  after(() => Promise.all(upstreams.map((upstream) => upstream.close())))

  it('reads an answer that comes in pieces', async () => {
    const link = await opened((_asked, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write(CHUNKED.slice(0, 20), () => {
        setImmediate(() => response.end(CHUNKED.slice(20)))
      })
      return true
    })
    const [event] = await eventsIn(await link.post(transportFrame(PING)))
    assert.equal(event?.frame?.text, CHUNKED)
    await link.end()
  })

  it('says which answer broke off, in a JSON body and in a stream', async () => {
    const link = await opened(({ message }, response) => {
      const type = message?.method === 'x/y' ? 'application/json' : 'text/event-stream'
      response.writeHead(200, { 'content-type': type }).write('{"jsonrpc"', () => response.destroy())
      return true
    })
    const json = await link.post(transportFrame(PING))
    assert.ok(json.form === 'failed' && /broke off/.test(json.message), JSON.stringify(json))
    const stream = await link.post(transportFrame('{"jsonrpc":"2.0","id":2,"method":"x/z"}'))
    await assert.rejects(() => eventsIn(stream), /broke off/)
    await link.end()
  })

  it('breaks open streams off with the session, and ends those that are given up', async () => {
    const link = await opened((_asked, response) => {
      beginEvents(response).write(': open\n\n')
      return true
    })
    for (const isGivenUp of [true, false]) {
      const reply = await link.post(transportFrame(PING))
      assert.ok(reply.form === 'sse')
      const events = comingEvents(reply)
      assert.equal(`${(await events.next()).value?.raw}`, ': open\n\n')
      const next = events.next()
      if (isGivenUp) reply.stop()
      else void link.end()
      if (isGivenUp) assert.equal((await next).done, true)
      else await assert.rejects(next, /session has ended/)
    }
  })

  it('takes no session id where a server gives two', async () => {
    const seen: unknown[] = []
    const link = await opened(({ message, headers }, response) => {
      seen.push(headers['mcp-session-id'])
      if (message?.method !== 'initialize') return false
      response.setHeader('mcp-session-id', ['a', 'b'])
      return sendJson(response, `{"jsonrpc":"2.0","id":${message.id},"result":{}}`)
    })
    await link.post(transportFrame('{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}'))
    await link.post(transportFrame(PING))
    assert.deepEqual(seen, [undefined, undefined])
    await link.end()
  })

  it('says that a header cannot be sent, and asks nobody', async () => {
    const upstream = await mcpUpstream()
    upstreams.push(upstream)
    const server = { ...serverAt(upstream.url), headers: { 'x-team': 'b\nlue' } }
    const link = await http.open(server, transportSession(about))
    const reply = await link.post(transportFrame(PING))
    assert.ok(reply.form === 'failed')
    assert.deepEqual([reply.status, reply.code, upstream.asked.length], [502, 'UPSTREAM_UNREACHABLE', 0])
    assert.match(reply.message, /headers of the server/)
    await link.end()
  })
})

describe('the HTTP transport towards a server', () => {
  const PING = '{"jsonrpc":"2.0","id":1,"method":"x/y"}'

  it('tells what is before an event that is too large, also of a stream that comes whole', async () => {
    const upstream = await mcpUpstream()
    const small = 'data: {"jsonrpc":"2.0","method":"x"}\n\n'
    upstream.answering = (_asked, response) => {
      const events = `${small}data: ${'x'.repeat(5_000)}\n\n`
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-length': events.length }).end(events)
      return true
    }
    const link = await http.open(serverAt(upstream.url), transportSession({ frame_bytes: 1_000 }))
    const events = comingEvents(await link.post(transportFrame(PING)))
    assert.equal(`${(await events.next()).value?.raw}`, small)
    await assert.rejects(() => events.next(), RangeError)
    await link.end()
    await upstream.close()
  })

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
    const events = comingEvents(reply)
    await events.next()
    let before = -1
    while (before !== written) {
      before = written
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    assert.ok(written < 1_000, `${written} events of 60 kB were taken from the server`)
    if (reply.form === 'sse') reply.stop()
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
