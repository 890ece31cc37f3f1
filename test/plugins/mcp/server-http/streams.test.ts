import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { type McpClient, type McpService, resultOf, startMcp } from '../../../kit/mcp.ts'
import { beginEvents } from '../../../kit/mcp-upstream.ts'

describe('streams through the HTTP server', () => {
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

  it('pass every event of a stream with its id, retry, comments and line ends', async () => {
    const events =
      ': hello\n\nid: e1\nretry: 100\ndata:\n\nevent: message\r\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}\r\n\r\n' +
      'id: e2\ndata: {"jsonrpc":"2.0",\ndata: "id":"s","result":{}}\n\n'
    service.upstream.answering = ({ message }, response) => {
      if (message?.method !== 'x/stream') return false
      beginEvents(response).write(events.slice(0, 30))
      response.end(events.slice(30))
      return true
    }
    const response = await client.fetch('POST', '{"jsonrpc":"2.0","id":"s","method":"x/stream"}')
    assert.equal(response.headers.get('content-type'), 'text/event-stream')
    assert.equal(response.headers.get('cache-control'), 'no-cache, no-transform')
    assert.equal(await response.text(), events)
  })

  /** A client's request, answered with these events in one piece. */
  const whole = async (id: string, events: string): Promise<Response> => {
    service.upstream.answering = ({ message }, response) => {
      if (message?.method !== 'x/whole') return false
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-length': events.length }).end(events)
      return true
    }
    return client.fetch('POST', JSON.stringify({ jsonrpc: '2.0', id, method: 'x/whole' }))
  }

  it('pass a stream that comes whole as it came, and with its length', async () => {
    const events =
      ': hello\r\n\r\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n' +
      'event: message\ndata: {"jsonrpc":"2.0","id":"w1","result":{ }}\n\n'
    const response = await whole('w1', events)
    assert.equal(response.headers.get('content-type'), 'text/event-stream')
    assert.equal(response.headers.get('cache-control'), 'no-cache, no-transform')
    assert.equal(response.headers.get('content-length'), String(events.length))
    assert.equal(await response.text(), events)
  })

  it('tell who waits that a whole stream lacks the answer, unless it can be taken up again', async () => {
    const said = ': so far\n\n'
    const text = await (await whole('w2', said)).text()
    assert.ok(text.startsWith(said), text)
    assert.match(text, /"id":"w2".*Upstream ended the stream without an answer/)
    const resumable = 'id: e1\ndata:\n\n'
    assert.equal(await (await whole('w3', resumable)).text(), resumable)
  })

  it('resume where a stream broke: Last-Event-ID goes up unchanged', async () => {
    service.upstream.answering = ({ method, message, headers }, response) => {
      if (message?.method === 'x/polled') {
        beginEvents(response).end('id: 1-7\nretry: 10\ndata:\n\n')
        return true
      }
      if (method !== 'GET') return false
      beginEvents(response).end(
        `id: 1-8\ndata: {"jsonrpc":"2.0","id":"p","result":{"after":"${headers['last-event-id']}"}}\n\n`,
      )
      return true
    }
    const first = await client.fetch('POST', '{"jsonrpc":"2.0","id":"p","method":"x/polled"}')
    assert.equal(await first.text(), 'id: 1-7\nretry: 10\ndata:\n\n')
    const second = await client.fetch('GET', undefined, { 'last-event-id': '1-7' })
    assert.match(await second.text(), /"after":"1-7"/)
  })

  it('resume a stream of which the client has missed what the gateway has seen', async () => {
    const session = await service.session()
    const asked = 'id: 2\ndata: {"jsonrpc":"2.0","id":"ask","method":"elicitation/create","params":{}}\n\n'
    const answer = 'id: 3\ndata: {"jsonrpc":"2.0","id":"call","result":{"content":[]}}\n\n'
    const list = 'id: 4\ndata: {"jsonrpc":"2.0","id":"list","result":{"tools":[]}}\n\n'
    service.upstream.answering = ({ method, message }, response) => {
      if (method === 'GET') beginEvents(response).end(asked + answer + list)
      else if (message?.id === 'call') beginEvents(response).end(`id: 1\ndata:\n\n${asked}${answer}`)
      else if (message?.id === 'list') beginEvents(response).end(list)
      else return false
      return true
    }
    const send = async (id: string, method: string, params: object) =>
      (await session.fetch('POST', JSON.stringify({ jsonrpc: '2.0', id, method, params }))).text()
    assert.equal(await send('call', 'tools/call', { name: 'ask' }), `id: 1\ndata:\n\n${asked}${answer}`)
    assert.equal(await send('list', 'tools/list', {}), list)
    for (const again of ['first', 'second']) {
      const stream = await session.fetch('GET', undefined, { 'last-event-id': '1' })
      assert.equal(await stream.text(), asked + answer + list, again)
    }
    const { status } = await session.post({ jsonrpc: '2.0', id: 'ask', result: { action: 'accept' } })
    assert.equal(status, 202)
  })

  it('bring a list of tools again as the client is to see it, which does not count again', async () => {
    await using hiding = await startMcp({
      policy: 'version: 1\ndefault: allow\nhide_denied_tools: true\nrules: [{ id: no, tools: [rm], action: deny }]\n',
    })
    const session = await hiding.session()
    const listed = (id: number, required: string) =>
      `id: ${id}\ndata: {"jsonrpc":"2.0","id":${id},"result":{"tools":[{"name":"ls","inputSchema":{"type":"object","required":[${required}]}},{"name":"rm"}]}}\n\n`
    const told = listed(1, '"path"').replace(',{"name":"rm"}', '')
    let first = listed(1, '"path"')
    hiding.upstream.answering = ({ method, message }, response) => {
      if (method !== 'GET' && message?.method !== 'tools/list') return false
      beginEvents(response).end(message?.id === 2 ? listed(2, '') : first)
      return true
    }
    const list = async (id: number) =>
      (await session.fetch('POST', JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list' }))).text()
    assert.equal(await list(1), told)
    await list(2)
    const again = async () => (await session.fetch('GET', undefined, { 'last-event-id': '0' })).text()
    assert.equal(await again(), told)
    first = listed(1, '"another"')
    assert.match(await again(), /"id":1,"error":\{"code":-32603,"message":"Upstream sent two lists/)
    resultOf(await session.call('ls'))
    assert.equal(hiding.upstream.calls('tools/call').length, 1)
  })

  it('get their answer after events that are no messages, which pass as they are', async () => {
    const events =
      'event: ping\ndata: 2026-11-21 12:00:00\n\nevent: endpoint\ndata: {"jsonrpc":"2.0","id":"e","result":{"a":0}}\n\n' +
      'data: {"jsonrpc":"2.0","id":"e","result":{"a":1}}\n\n'
    service.upstream.answering = ({ message }, response) => {
      if (message?.method !== 'x/pinged') return false
      beginEvents(response).end(events)
      return true
    }
    const response = await client.fetch('POST', '{"jsonrpc":"2.0","id":"e","method":"x/pinged"}')
    assert.equal(await response.text(), events)
  })

  it('are answered with -32603 where a message of a stream is none', async () => {
    service.upstream.answering = ({ message }, response) => {
      if (message?.method !== 'x/garbled') return false
      beginEvents(response).end('data: this is no message\n\n')
      return true
    }
    const response = await client.fetch('POST', '{"jsonrpc":"2.0","id":"g","method":"x/garbled"}')
    assert.match(await response.text(), /^event: message\ndata: \{"jsonrpc":"2.0","id":"g","error":\{"code":-32603/)
  })

  it('lose no answer to what is no message, in their own streams or in those of others', async () => {
    const answered = (id: string) => `id: ${id}\ndata: {"jsonrpc":"2.0","id":"${id}","result":{}}\n\n`
    const streams = new Map<unknown, ReturnType<typeof beginEvents>>()
    service.upstream.answering = ({ message }, response) => {
      if (message?.method !== 'x/beside') return false
      streams.set(message.id, beginEvents(response))
      response.flushHeaders()
      return true
    }
    const session = await service.session()
    const send = (id: string) => session.fetch('POST', JSON.stringify({ jsonrpc: '2.0', id, method: 'x/beside' }))
    const [first, second] = [await send('one'), await send('two')]
    streams.get('one')?.end(`data: one of no message\n\n${answered('one')}data: another\n\n`)
    assert.equal(await first.text(), answered('one'))
    streams.get('two')?.end(answered('two'))
    assert.equal(await second.text(), answered('two'))
  })

  it('are answered with -32603 where a stream ends without the answer', async () => {
    service.upstream.answering = ({ message }, response) => {
      if (message?.method !== 'x/cut') return false
      beginEvents(response).end(': nothing more\n\n')
      return true
    }
    const response = await client.fetch('POST', '{"jsonrpc":"2.0","id":"c","method":"x/cut"}')
    assert.match(
      await response.text(),
      /^: nothing more\n\nevent: message\ndata: \{"jsonrpc":"2.0","id":"c","error":\{"code":-32603/,
    )
  })
})
