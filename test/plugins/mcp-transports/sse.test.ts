import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, it } from 'node:test'
import { McpServer as SdkServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { http } from 'guard-gateway/plugins/mcp-transports/http'
import { sse } from 'guard-gateway/plugins/mcp-transports/sse'
import type { McpLink, McpServer, McpSession } from '#lib/mcp-transport'
import { eventsIn, mcpTransportConforms, transportFrame, transportSession } from '../../conformance/mcp-transport.ts'
import { sseMcpServer } from '../../kit/sse-mcp-server.ts'

const serverAt = (target: string, transport = 'sse'): McpServer => ({
  ...{ id: 'old', name: 'old', transport, target },
  ...{ headers: { 'x-own': 'yes' }, timeout_ms: 30_000, args: [], env: {} },
})

const session = (): McpSession => {
  const made: McpSession = transportSession({ open: (_id, server) => http.open(server, made) })
  return made
}

const INITIALIZE = transportFrame(
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}',
)
const INITIALIZED = transportFrame('{"jsonrpc":"2.0","method":"notifications/initialized"}')
const call = (id: number, name: string) =>
  transportFrame(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":{}}}`)

const textOf = async (link: McpLink, frame: ReturnType<typeof transportFrame>): Promise<string> => {
  const reply = await link.post(frame)
  if (reply.form === 'failed') return `${reply.status} ${reply.message}`
  return (await eventsIn(reply)).map(({ frame: came }) => came?.text).join('\n')
}

/** A server with the tools `hello`, and `slow`, which never answers. */
const oldServer = (onSlow: () => void = () => {}) => {
  const server = new SdkServer({ name: 'old', version: '1' })
  server.registerTool('hello', {}, async () => ({ content: [{ type: 'text', text: 'hello' }] }))
  server.registerTool('slow', {}, () => {
    onSlow()
    return new Promise(() => {})
  })
  return server
}

mcpTransportConforms(
  sse,
  async () => {
    const server = await rawServer(({ message, send }) => {
      const { id, method, params = {} } = message
      if (id === undefined || method === undefined) return
      const result = method === 'initialize' ? { protocolVersion: params.protocolVersion, capabilities: {} } : {}
      send(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
    return { server: serverAt(server.url), close: async () => server[Symbol.asyncDispose]() }
  },
  { open: (_id, server) => http.open(server, session()) },
)

interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
}

/** A server of HTTP+SSE whose answers are written by the test. */
const rawServer = async (
  onMessage: (about: { message: Message; send(text: string): void; stream: ServerResponse }) => void,
  begin: (stream: ServerResponse) => void = (stream) => void stream.write('event: endpoint\ndata: /messages?s=1\n\n'),
): Promise<AsyncDisposable & { readonly url: string; readonly asked: string[] }> => {
  let stream: ServerResponse | undefined
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    asked.push(`${request.method} ${request.url}`)
    if (request.method === 'GET') {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' })
      begin(stream)
      return
    }
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    response.writeHead(request.url === '/sse' ? 405 : 202).end()
    const open = stream
    if (open !== undefined && request.url !== '/sse')
      onMessage({
        message: JSON.parse(Buffer.concat(chunks).toString()),
        send: (text) => void open.write(`event: message\ndata: ${text}\n\n`),
        stream: open,
      })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

describe('the transport HTTP+SSE', () => {
  const opened = new AsyncDisposableStack()
  after(() => opened.disposeAsync())
  const linkTo = async (url: string, transport = 'sse'): Promise<McpLink> => {
    const server = serverAt(url, transport)
    const link = await (transport === 'sse' ? sse : http).open(server, session())
    opened.defer(() => link.end())
    return link
  }
  const begun = async (url: string, transport = 'sse'): Promise<McpLink> => {
    const link = await linkTo(url, transport)
    assert.match(await textOf(link, INITIALIZE), /"name":"old"/)
    assert.deepEqual(await link.post(INITIALIZED), { form: 'none', status: 202 })
    return link
  }

  it('reaches a server of the official SDK, named or found out by a refused POST', async () => {
    for (const [transport, first] of [
      ['sse', 'GET /sse'],
      ['http', 'POST /sse'],
    ] as const) {
      const server = opened.use(await sseMcpServer(() => oldServer()))
      const link = await begun(server.url, transport)
      assert.match(await textOf(link, call(1, 'hello')), /"text":"hello"/)
      assert.equal(server.asked[0], first)
      await link.end()
      assert.match((await link.lost).reason, /session has ended/)
      assert.match(await textOf(link, call(2, 'hello')), /^502 The session has ended/)
    }
  })

  it('fails what waits where the stream breaks off, and takes the session up again with the next message', async () => {
    const { promise: started, resolve: onSlow } = Promise.withResolvers<void>()
    const server = opened.use(await sseMcpServer(() => oldServer(onSlow)))
    const link = await begun(server.url)
    const waiting = textOf(link, call(1, 'slow'))
    await started
    server.cut()
    assert.match(await waiting, /^502 .* before it answered\.$/)
    assert.match(await textOf(link, call(2, 'hello')), /"text":"hello"/)
    assert.equal(server.asked.filter((one) => one === 'GET /sse').length, 2)
  })

  it('takes the session up again at once where the server has forgotten it', async () => {
    const server = opened.use(await sseMcpServer(() => oldServer()))
    const link = await begun(server.url)
    server.forget()
    assert.match(await textOf(link, call(1, 'hello')), /"text":"hello"/)
    assert.equal(server.asked.filter((one) => one === 'GET /sse').length, 2)
  })

  it('tells of a server that is gone, and of one that does not begin as it must', async () => {
    const gone = await sseMcpServer(() => oldServer())
    const link = await begun(gone.url)
    await gone[Symbol.asyncDispose]()
    assert.match(
      await textOf(link, call(1, 'hello')),
      /^502 (?:The MCP server could not be reached|.* before it answered)/,
    )
    for (const [begin, message] of [
      ['event: message\ndata: {}\n\n', /did not begin its stream with the event "endpoint"/],
      [
        'event: endpoint\ndata: https://evil.example/messages\n\n',
        /wants messages at "https:\/\/evil\.example\/messages", which is not at http:\/\/127/,
      ],
      ['event: endpoint\ndata: //evil.example/x\n\n', /is not at http/],
      ['event: endpoint\ndata: http://a:b@127.0.0.1/x\n\n', /is not at http/],
      ['event: endpoint\ndata: javascript:alert(1)\n\n', /is not at http/],
      [`event: endpoint\ndata: /${'x'.repeat(3_000)}\n\n`, /is not at http/],
    ] as const) {
      const server = opened.use(
        await rawServer(
          () => {},
          (stream) => void stream.write(begin),
        ),
      )
      assert.match(await textOf(await linkTo(server.url), INITIALIZE), message)
      const found = await textOf(await linkTo(server.url, 'http'), INITIALIZE)
      assert.match(found, begin.startsWith('event: endpoint') ? message : /neither Streamable HTTP there nor/)
      assert.deepEqual(new Set(server.asked), new Set(['GET /sse', 'POST /sse']))
    }
    const closed = opened.use(
      await rawServer(
        () => {},
        (stream) => void stream.end(),
      ),
    )
    assert.match(await textOf(await linkTo(closed.url), INITIALIZE), /closed its stream/)
  })

  it('brings what the server says before its answer, and unasked, to whom it belongs', async () => {
    const server = opened.use(
      await rawServer(({ message, send }) => {
        send('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"unasked"}}')
        send('{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}')
        send('no message')
        send(`{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":{}}`)
      }),
    )
    const link = await linkTo(server.url)
    const asked = transportFrame('{"jsonrpc":"2.0","id":1,"method":"x/y","params":{"_meta":{"progressToken":"p"}}}')
    const events = await eventsIn(await link.post(asked))
    assert.match(events.map(({ frame, fault }) => frame?.text ?? fault?.message).join(' '), /"progressToken":"p".*/)
    const listening = await link.listen()
    assert.ok(listening.form === 'sse' && Symbol.asyncIterator in listening.events)
    const { value } = await listening.events[Symbol.asyncIterator]().next()
    assert.match(value.frame.text, /unasked/)
    assert.match(JSON.stringify(await link.listen()), /"status":409/)
    listening.stop()
  })

  it('ends a stream with a message that is too large, and says so', async () => {
    const server = opened.use(await rawServer(({ send }) => send(`{"x":"${'y'.repeat(1_100_000)}"}`)))
    assert.match(await textOf(await linkTo(server.url), INITIALIZE), /larger than 1000000 bytes before it answered/)
  })
})
