import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { initialize, type McpClient, type McpService, startMcp } from '../../../kit/mcp.ts'
import { rawHttp } from '../../../kit/raw-http.ts'

describe('the HTTP transport', () => {
  let service: McpService
  let client: McpClient
  before(async () => {
    service = await startMcp({
      mcp: 'allowed_origins: ["https://app.example"], allowed_hosts: [proxy.example], limits: { frame_bytes: 20000 }',
    })
    client = await service.session()
  })
  after(() => service[Symbol.asyncDispose]())

  const ping = '{"jsonrpc":"2.0","id":7,"method":"ping"}'
  const raw = (head: string, body = '') => {
    const { port } = new URL(service.gateway.url)
    const length = body === '' ? '' : `content-length: ${body.length}\r\n`
    return rawHttp(
      Number(port),
      `${head}\r\nauthorization: Bearer ${service.gateway.key}\r\nconnection: close\r\n${length}\r\n${body}`,
    )
  }
  const codeIn = (text: string) =>
    (JSON.parse(text) as { error: { code: number; data: { type: string; code: string } } }).error

  it('4.5: refuses a foreign Host with 403, and takes one that is listed, with any port', async () => {
    const refused = await raw('POST /mcp/up HTTP/1.1\r\nhost: evil.example\r\ncontent-type: application/json', ping)
    assert.equal(refused.status, 403)
    assert.deepEqual(
      [codeIn(refused.body).code, codeIn(refused.body).data],
      [-32000, { type: 'mcp_error', code: 'HOST_NOT_ALLOWED' }],
    )
    const taken = await raw('GET /mcp/up HTTP/1.1\r\nhost: proxy.example:1234\r\naccept: text/event-stream')
    assert.equal(codeIn(taken.body).data.code, 'SESSION_REQUIRED')
  })

  it('4.5: refuses an Origin that is not exactly listed with 403, and null always', async () => {
    for (const origin of [
      'https://evil.example',
      'null',
      'https://app.example.evil',
      'https://app.example:444',
      service.gateway.url,
    ]) {
      const { status, json } = await service.post(ping, { origin })
      assert.deepEqual(
        [status, json?.error?.code, json?.error?.data?.code],
        [403, -32000, 'ORIGIN_NOT_ALLOWED'],
        origin,
      )
    }
  })

  it('4.5: takes a listed Origin, with CORS headers, and a request without one', async () => {
    const { status, headers } = await client.post(ping, { origin: 'https://app.example' })
    assert.equal(status, 200)
    assert.equal(headers.get('access-control-allow-origin'), 'https://app.example')
    assert.equal(headers.get('access-control-expose-headers'), 'mcp-session-id')
    const plain = await client.post(ping)
    assert.deepEqual([plain.status, plain.headers.get('access-control-allow-origin')], [200, null])
  })

  it('answers a preflight of a listed Origin without a key, and no other', async () => {
    const ask = (origin: string) =>
      fetch(`${service.gateway.url}/mcp/up`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      })
    const allowed = await ask('https://app.example')
    assert.equal(allowed.status, 204)
    for (const name of [
      'authorization',
      'mcp-session-id',
      'mcp-protocol-version',
      'last-event-id',
      'x-guard-key',
      'x-api-key',
    ])
      assert.ok(allowed.headers.get('access-control-allow-headers')?.split(', ').includes(name), name)
    assert.equal(allowed.headers.get('access-control-allow-methods'), 'GET, POST, DELETE')
    const refused = await ask('https://evil.example')
    assert.deepEqual([refused.status, refused.headers.get('access-control-allow-origin')], [403, null])
  })

  it('5: refuses a missing or wrong key with 401, without a hint to OAuth', async () => {
    for (const authorization of ['', 'Bearer wrong', 'Basic eDp5']) {
      const { status, json, headers } = await client.post(ping, { authorization })
      assert.deepEqual([status, json?.error?.code, json?.error?.data?.code], [401, -32001, 'UNAUTHORIZED'])
      assert.equal(headers.get('www-authenticate'), 'Bearer realm="guard"')
    }
    const metadata = await fetch(`${service.gateway.url}/.well-known/oauth-protected-resource`)
    assert.equal(metadata.status, 404)
  })

  it('5: takes the key as x-api-key too', async () => {
    const { status } = await client.post(ping, { authorization: '', 'x-api-key': service.gateway.key })
    assert.equal(status, 200)
  })

  it('answers 404 for a server that is not there', async () => {
    const { status, json } = await service.post(initialize(), {}, 'other')
    assert.deepEqual([status, json?.error?.code, json?.error?.data?.code], [404, -32001, 'MCP_SERVER_NOT_FOUND'])
    assert.match(json?.error?.message ?? '', /One that was added to mcp\.servers is there after a restart\.$/)
  })

  it('answers 405 for a verb that MCP does not have', async () => {
    for (const method of ['PUT', 'PATCH']) {
      const response = await client.fetch(method, ping)
      assert.deepEqual([response.status, response.headers.get('allow')], [405, 'GET, POST, DELETE'], method)
      assert.equal(codeIn(await response.text()).data.code, 'METHOD_NOT_ALLOWED')
    }
    assert.equal((await client.fetch('HEAD')).status, 405)
  })

  it('answers 415 for a message that is no application/json, or is compressed', async () => {
    for (const headers of [
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/json-seq' },
      { 'content-type': 'application/x-www-form-urlencoded' },
      { 'content-encoding': 'gzip' },
    ]) {
      const { status, json } = await client.post(ping, headers)
      assert.deepEqual([status, json?.error?.data?.code], [415, 'UNSUPPORTED_MEDIA_TYPE'], JSON.stringify(headers))
    }
    for (const headers of [{ 'content-type': 'application/json; charset=utf-8' }, { 'content-encoding': 'identity' }])
      assert.equal((await client.post(ping, headers)).status, 200)
  })

  it('answers 406 to whom one of the two forms is not acceptable', async () => {
    for (const accept of ['application/json', 'text/event-stream', 'text/html', '']) {
      const { status, json } = await client.post(ping, { accept })
      assert.deepEqual([status, json?.error?.data?.code], [406, 'NOT_ACCEPTABLE'], accept)
    }
    for (const accept of ['*/*', 'application/*, text/*', 'text/event-stream;q=1, application/json;q=0.5'])
      assert.equal((await client.post(ping, { accept })).status, 200, accept)
    assert.equal((await client.fetch('GET', undefined, { accept: 'application/json' })).status, 406)
  })

  it('answers 413 for a message that is too large', async () => {
    const { status, json } = await client.post(`{"jsonrpc":"2.0","method":"x","params":{"a":"${'x'.repeat(20_000)}"}}`)
    assert.deepEqual([status, json?.error?.data?.code], [413, 'BODY_TOO_LARGE'])
  })

  it('answers 413 as soon as a message of unknown length is too large', async () => {
    const head = `POST /mcp/up HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\naccept: */*\r\nauthorization: Bearer ${service.gateway.key}\r\ntransfer-encoding: chunked`
    const { port } = new URL(service.gateway.url)
    const { status, body } = await rawHttp(Number(port), `${head}\r\n\r\n6000\r\n${'x'.repeat(0x6000)}\r\n`)
    assert.deepEqual([status, codeIn(body).data.code], [413, 'BODY_TOO_LARGE'])
  })

  it('answers 400 with -32700 for what is no JSON, and -32600 for what is no message', async () => {
    for (const [text, code, id] of [
      ['{', -32700, undefined],
      ['', -32700, undefined],
      [`[${ping}]`, -32600, undefined],
      ['{"jsonrpc":"2.0","id":7,"method":"ping","method":"x"}', -32600, 7],
      ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, undefined],
      ['{"jsonrpc":"2.0","method":"ping","params":[]}', -32600, undefined],
    ] as const) {
      const { status, json } = await client.post(text)
      assert.deepEqual([status, json?.error?.code, json?.id], [400, code, id], text)
      const name = code === -32700 ? 'INVALID_JSON' : 'INVALID_REQUEST'
      assert.deepEqual(json?.error?.data, { type: 'mcp_error', code: name })
    }
    const { 'mcp-session-id': session_id } = client.headers
    await service.post('{', { 'mcp-session-id': 'mcp_nobody' })
    const { json } = await service.gateway.request('GET', '/api/v1/mcp/events?kind=refusal&limit=2')
    const { events } = json as { readonly events: readonly { readonly session_id: string | null }[] }
    assert.deepEqual(
      events.map((event) => event.session_id),
      [null, session_id],
    )
  })

  it('answers 400 for a revision of MCP that is not served, before it asks for a session', async () => {
    const probe = '{"jsonrpc":"2.0","id":"p","method":"server/discover"}'
    const { status, json } = await service.post(probe, { 'mcp-protocol-version': '2026-07-28' })
    assert.deepEqual(
      [status, json?.id, json?.error?.code, json?.error?.data?.code],
      [400, 'p', -32000, 'PROTOCOL_VERSION'],
    )
    assert.equal((await client.post(ping, { 'mcp-protocol-version': '2025-06-18' })).status, 200)
  })

  it('4.5: answers 400 without a session and 404 for one that is not there', async () => {
    for (const method of ['POST', 'GET', 'DELETE']) {
      const none = await service.fetch(method, method === 'POST' ? ping : undefined)
      assert.equal(none.status, 400)
      assert.equal(codeIn(await none.text()).data.code, 'SESSION_REQUIRED')
      const other = await service.fetch(method, method === 'POST' ? ping : undefined, {
        'mcp-session-id': `mcp_${'x'.repeat(43)}`,
      })
      assert.equal(other.status, 404)
      assert.deepEqual([codeIn(await other.text()).code], [-32001])
    }
  })

  it('answers 202 without a body for a notification', async () => {
    const { status, text } = await client.post('{"jsonrpc":"2.0","method":"notifications/initialized"}')
    assert.deepEqual([status, text], [202, ''])
  })

  it('answers 400 for a response that answers nothing', async () => {
    const { status, json } = await client.post('{"jsonrpc":"2.0","id":7,"result":{}}')
    assert.deepEqual([status, json?.error?.code], [400, -32600])
  })

  it('answers 405 to GET where the server offers no stream', async () => {
    assert.equal((await client.fetch('GET')).status, 405)
  })

  it('refuses a project and an agent of a name that has no pages', async () => {
    for (const header of ['x-guard-project-id', 'x-guard-agent-id']) {
      const { status, text } = await service.post(initialize(), { [header]: '..' })
      assert.deepEqual([status, codeIn(text).data.code], [400, 'INVALID_HEADER'])
    }
  })

  it('refuses a session of a name that is all blank, as model requests do', async () => {
    for (const header of ['x-guard-session-id', 'x-client-session-id']) {
      const { status, text } = await service.post(initialize(), { [header]: '\u00a0\u00a0' })
      assert.deepEqual([status, codeIn(text).data.code], [400, 'INVALID_HEADER'])
    }
  })

  it('goes on under a hash of an id that looks like a secret, and refuses a key', async () => {
    const suspect = 'test_0b6d8a52-7f0c-4d8e-9f57-1c2d3e4f5a6b'
    const key = `gak_${'AbCdEfGhIjK'.repeat(4).slice(1)}`
    for (const header of ['x-guard-project-id', 'x-guard-agent-id', 'x-guard-session-id', 'x-client-session-id']) {
      assert.equal((await service.post(initialize(), { [header]: suspect })).status, 200, header)
      assert.equal((await service.post(initialize(), { [header]: key })).status, 400, header)
    }
  })

  it('refuses a header that occurs twice', async () => {
    const answer = await raw(
      `POST /mcp/up HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nmcp-session-id: a\r\nmcp-session-id: b`,
      ping,
    )
    assert.equal(answer.status, 400)
    assert.equal(codeIn(answer.body).data.code, 'INVALID_HEADER')
  })
})
