import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { type McpClient, type McpService, startMcp } from '../../../kit/mcp.ts'
import { beginEvents, sendJson } from '../../../kit/mcp-upstream.ts'

describe('the upstream of an HTTP session', () => {
  let service: McpService
  let client: McpClient
  before(async () => {
    service = await startMcp({
      server: 'headers: { Authorization: "Bearer upstream-secret-token", X-Team: blue }, timeout_seconds: 1',
    })
    client = await service.session({ 'x-guard-project-id': 'p1' })
  })
  after(() => service[Symbol.asyncDispose]())
  afterEach(() => {
    service.upstream.answering = () => false
  })
  const answering = (status: number, body = '', headers: Readonly<Record<string, string>> = {}) => {
    service.upstream.answering = ({ message }, response) => {
      if (message?.method !== 'x/y') return false
      response.writeHead(status, headers).end(body)
      return true
    }
  }

  it('gets headers that are made, and no credential of the client', async () => {
    await client.request('x/y', {})
    const passed = {
      cookie: 'a=b',
      'x-custom': '1',
      'user-agent': 'tester/1',
      'accept-language': 'de',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    }
    await client.post('{"jsonrpc":"2.0","id":50,"method":"x/y"}', passed)
    const { headers } = service.upstream.asked.at(-1) ?? assert.fail()
    const expected = {
      accept: 'application/json, text/event-stream',
      'accept-encoding': 'identity',
      'accept-language': 'de',
      authorization: 'Bearer upstream-secret-token',
      connection: 'keep-alive',
      'content-length': '40',
      'content-type': 'application/json',
      host: new URL(service.upstream.url).host,
      'mcp-protocol-version': '2025-11-25',
      'mcp-session-id': 'upstream-session-1',
      traceparent: passed.traceparent,
      'user-agent': 'tester/1',
      'x-team': 'blue',
    }
    assert.deepEqual(Object.fromEntries(Object.entries(headers).sort()), expected)
  })

  it('4.5: has a session id of its own that the client never sees', async () => {
    const response = await client.post('{"jsonrpc":"2.0","id":51,"method":"x/y"}')
    assert.ok(!JSON.stringify([...response.headers]).includes('upstream-session-1'))
    assert.match(client.headers['mcp-session-id'] ?? '', /^mcp_[A-Za-z0-9_-]{43}$/)
    assert.equal(
      (await client.post('{"jsonrpc":"2.0","id":52,"method":"x/y"}', { 'mcp-session-id': 'upstream-session-1' }))
        .status,
      404,
    )
  })

  it('may refuse a message in JSON-RPC with 400, which the client reads as it is', async () => {
    for (const body of [
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}',
      '{"jsonrpc":"2.0","error":{"code":-32000,"message":"no"}}',
    ]) {
      answering(400, body)
      const { status, text } = await client.request('x/y')
      assert.deepEqual([status, text], [400, body])
    }
  })

  it('may say in JSON-RPC what is wrong with any status, which the client reads', async () => {
    const error = { code: -32601, message: 'Method not found: x/y' }
    service.upstream.answering = ({ message }, response) =>
      message?.method === 'x/y' && sendJson(response, JSON.stringify({ jsonrpc: '2.0', id: message.id, error }), 500)
    const failed = await client.request('x/y')
    assert.deepEqual([failed.status, failed.json?.error], [502, error])
    service.upstream.answering = ({ message }, response) =>
      message?.method === 'x/y' && sendJson(response, JSON.stringify({ jsonrpc: '2.0', id: message.id, error }), 404)
    const unknown = await client.request('x/y')
    assert.deepEqual([unknown.status, unknown.json?.error], [200, error])
    service.upstream.answering = () => false
    assert.equal((await client.request('ping')).status, 200, 'the session goes on')
  })

  it('that redirects, packs its answer or speaks an older transport is told with what to do', async () => {
    const told = async () => (await client.request('x/y')).json?.error?.message ?? ''
    answering(307, '', { location: 'http://user:pw@127.0.0.1:1/mcp/?token=x' })
    assert.equal(
      await told(),
      'The MCP server answered 307 and points to http://127.0.0.1:1/mcp/. Redirects are not followed: name that address as mcp.servers.up.target.',
    )
    answering(200, 'x', { 'content-type': 'application/json', 'content-encoding': 'gzip' })
    assert.match(await told(), /packed its answer \(content-encoding: gzip\)/)
    service.upstream.answering = ({ message }, response) => {
      if (message?.method === 'initialize') response.writeHead(405).end()
      return message?.method === 'initialize'
    }
    await assert.rejects(
      service.session(),
      /answered 405\. It speaks neither .* nor the older HTTP\+SSE\. Check the path of mcp\.servers\.up\.target/,
    )
  })

  it('may answer an id as text that was a number', async () => {
    service.upstream.answering = ({ message }, response) =>
      message?.method === 'x/y' && sendJson(response, `{"jsonrpc":"2.0","id":"${message.id}","result":{"a":1}}`)
    const { status, text } = await client.post('{"jsonrpc":"2.0","id":160,"method":"x/y"}')
    assert.deepEqual([status, JSON.parse(text)], [200, { jsonrpc: '2.0', id: 160, result: { a: 1 } }])
  })

  it('may leave out whose error it is in the answer to a request, which then gets its id', async () => {
    for (const id of ['"id":null,', '']) {
      answering(200, `{"jsonrpc":"2.0",${id}"error":{"code":-1,"message":"no"}}`, {
        'content-type': 'application/json',
      })
      const { status, json } = await client.post('{"jsonrpc":"2.0","id":"mine","method":"x/y"}')
      assert.deepEqual([status, json?.id, json?.error], [200, 'mine', { code: -1, message: 'no' }])
    }
  })

  for (const [name, upstream, status, code] of [
    ['401', () => answering(401, '', { 'www-authenticate': 'Bearer resource_metadata="x"' }), 502, 'UPSTREAM_REFUSED'],
    ['403', () => answering(403), 502, 'UPSTREAM_REFUSED'],
    ['400 without JSON-RPC', () => answering(400, 'bad'), 502, 'UPSTREAM_FAILED'],
    ['302', () => answering(302, '', { location: 'http://127.0.0.1:1/' }), 502, 'UPSTREAM_FAILED'],
    ['406', () => answering(406), 502, 'UPSTREAM_FAILED'],
    ['415', () => answering(415), 502, 'UPSTREAM_FAILED'],
    ['500', () => answering(500), 502, 'UPSTREAM_FAILED'],
    ['HTML', () => answering(200, '<html>', { 'content-type': 'text/html' }), 502, 'UPSTREAM_FAILED'],
    [
      'broken JSON',
      () => answering(200, '{"jsonrpc":', { 'content-type': 'application/json' }),
      502,
      'UPSTREAM_FAILED',
    ],
    [
      'a foreign answer',
      () => answering(200, '{"jsonrpc":"2.0","id":"other","result":{}}', { 'content-type': 'application/json' }),
      502,
      'UPSTREAM_FAILED',
    ],
    ['429', () => answering(429, '', { 'retry-after': '7' }), 429, 'UPSTREAM_FAILED'],
    ['503', () => answering(503, '', { 'retry-after': '8' }), 503, 'UPSTREAM_FAILED'],
  ] as const) {
    it(`answering ${name} becomes ${status} with -32603`, async () => {
      upstream()
      const { status: got, json, headers } = await client.request('x/y')
      assert.deepEqual([got, json?.error?.code, json?.error?.data?.code], [status, -32603, code])
      assert.equal(typeof json?.id, 'number')
      assert.equal(headers.get('www-authenticate'), null)
      assert.equal(headers.get('retry-after'), { 429: '7', 503: '8' }[got as 429 | 503] ?? null)
    })
  }

  it('that has a stream open already says so to who listens: 409, which no client takes for a broken server', async () => {
    service.upstream.answering = ({ method }, response) => {
      if (method === 'GET') response.writeHead(409).end()
      return method === 'GET'
    }
    const response = await client.fetch('GET')
    const { error } = (await response.json()) as { readonly error: { readonly code: number; readonly message: string } }
    assert.deepEqual(
      [response.status, error.code, error.message],
      [409, -32603, 'The MCP server has a stream open for this session already.'],
    )
  })

  it('that does not answer in time becomes 504', async () => {
    service.upstream.answering = ({ message }) => message?.method === 'x/y'
    const { status, json } = await client.request('x/y')
    assert.deepEqual([status, json?.error?.data?.code], [504, 'UPSTREAM_TIMEOUT'])
  })

  it('that sends ambiguous JSON in what is interpreted is not believed', async () => {
    service.upstream.answering = ({ message }, response) =>
      message?.method === 'tools/list' &&
      sendJson(response, `{"jsonrpc":"2.0","id":${message.id},"result":{"tools":[],"tools":[]}}`)
    const { json } = await client.request('tools/list')
    assert.deepEqual([json?.error?.code, json?.error?.message], [-32603, 'Upstream sent ambiguous JSON'])
  })

  it('that breaks off in a stream leaves no request without an answer', async () => {
    service.upstream.answering = ({ message }, response) => {
      if (message?.method !== 'x/y') return false
      beginEvents(response).write('data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n', () =>
        response.destroy(),
      )
      return true
    }
    const response = await client.fetch('POST', '{"jsonrpc":"2.0","id":90,"method":"x/y"}')
    assert.match(await response.text(), /notifications\/message.*"id":90,"error":\{"code":-32603/s)
  })

  it('that ends the session with 404 ends it for the client too', async () => {
    const other = await service.session()
    answering(404)
    const { status, json } = await other.request('x/y')
    assert.deepEqual([status, json?.error?.code, json?.error?.data?.code], [404, -32001, 'MCP_SESSION_NOT_FOUND'])
    assert.equal((await other.request('ping')).status, 404)
  })

  it('that cannot be reached becomes 502, and no session is left', async () => {
    await using lone = await startMcp()
    await lone.upstream.close()
    const { status, json, headers } = await lone.post({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} })
    assert.deepEqual(
      [status, json?.error?.data?.code, headers.get('mcp-session-id')],
      [502, 'UPSTREAM_UNREACHABLE', null],
    )
  })
})
