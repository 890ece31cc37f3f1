import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import type { Plugin } from 'guard-gateway/core'
import { startGateway } from '../../kit/gateway.ts'
import { rawHttp } from '../../kit/raw-http.ts'
import { refusingPort } from '../../kit/refusing-port.ts'
import { refusedHandshake, socketClient } from '../../kit/socket-client.ts'
import { socketProvider } from '../../kit/socket-provider.ts'
import { startSocketService, until } from './kit.ts'

const headerIn = (headers: readonly string[], name: string): string | undefined => {
  const at = headers.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name)
  return at === -1 ? undefined : headers[at + 1]
}

describe('a handshake', () => {
  it('goes up with the headers of the client, the credential of the upstream and nothing of ours', async () => {
    await using service = await startSocketService()
    const sent = {
      'openai-beta': 'responses_websockets=2026-02-06',
      'x-codex-turn-metadata': '{"a":1}',
      originator: 'codex_cli_rs',
      'session-id': 'ses-1',
      'thread-id': 'thr-1',
      'x-guard-project-id': 'shop',
      cookie: 'a=b',
    }
    await service.connect(sent, { path: '/v1/responses?x=1', perMessageDeflate: true })
    const [{ path, headers } = { path: '', headers: [] }] = service.provider.handshakes
    assert.equal(path, '/v1/responses?x=1')
    for (const name of ['openai-beta', 'x-codex-turn-metadata', 'originator', 'session-id', 'thread-id'] as const)
      assert.equal(headerIn(headers, name), sent[name])
    assert.equal(headerIn(headers, 'authorization'), 'Bearer sk-up')
    assert.equal(headerIn(headers, 'host'), new URL(service.provider.url).host)
    assert.match(headerIn(headers, 'sec-websocket-extensions') ?? '', /no_context_takeover/)
    const text = headers.join('\n')
    for (const ours of [/x-guard/i, /cookie/i, /origin\n/i, new RegExp(service.gateway.key)])
      assert.doesNotMatch(text, ours)
  })
  it('is shown to plugins as what is sent: its method, its address and its headers, without the web origin', async () => {
    const seen: unknown[] = []
    const watching: Plugin = {
      name: 'watching',
      apply: ({ hooks }) =>
        hooks.outbound.tap('watching', ({ upstream, method, url, body }, request) => {
          seen.push(upstream, method, url, body, 'style' in request ? undefined : request.method)
        }),
    }
    await using service = await startSocketService({ plugins: [watching] })
    await service.connect({ origin: service.gateway.url, accept: 'x' }, { path: '/v1/responses?x=1' })
    const url = `${service.provider.url.replace('http', 'ws')}/v1/responses?x=1`
    assert.deepEqual(seen, ['provider', 'GET', url, undefined, 'GET'])
    const [{ headers } = { headers: [] }] = service.provider.handshakes
    assert.deepEqual([headerIn(headers, 'origin'), headerIn(headers, 'accept')], [undefined, 'x'])
  })
  it('is answered with the headers of the upstream and an id', async () => {
    await using service = await startSocketService()
    service.provider.headers.push('x-codex-turn-state: abc', 'set-cookie: a=b', 'x-models-etag: "caf\u00e9"')
    const { headers } = await service.connect({}, { perMessageDeflate: true })
    assert.equal(headerIn(headers, 'x-codex-turn-state'), 'abc')
    assert.equal(headerIn(headers, 'set-cookie'), undefined)
    assert.equal(headerIn(headers, 'sec-websocket-extensions'), undefined)
    assert.match(headerIn(headers, 'x-guard-request-id') ?? '', /^guardreq_/)
    assert.equal(Buffer.from(headerIn(headers, 'x-models-etag') ?? '', 'latin1').toString(), '"caf\u00e9"')
  })
  for (const status of [404, 405, 426, 501])
    it(`that the upstream answers with ${status} is answered 426, and the next one does not reach it`, async () => {
      await using service = await startSocketService()
      service.provider.handshake({ status })
      for (let attempt = 0; attempt < 2; attempt++) {
        const refused = await refusedHandshake(service.gateway)
        assert.equal(refused.status, 426)
        assert.equal(refused.headers.upgrade, 'HTTP/1.1')
      }
      assert.equal(service.provider.handshakes.length, 1)
      assert.deepEqual(await service.calls(), [])
    })
  for (const status of [200, 302, 401, 403, 429, 500, 503])
    it(`that the upstream answers with ${status} is answered so, with body and headers`, async () => {
      await using service = await startSocketService()
      const headers = {
        'retry-after': '7',
        'x-request-id': 'req_up',
        'content-type': 'application/json',
        'set-cookie': 'a=b',
      }
      service.provider.handshake({ status, headers, body: '{"error":{"message":"no"}}' })
      const refused = await refusedHandshake(service.gateway)
      assert.equal(refused.status, status)
      assert.equal(refused.text, '{"error":{"message":"no"}}')
      assert.deepEqual([refused.headers['retry-after'], refused.headers['x-request-id']], ['7', 'req_up'])
      assert.equal(refused.headers['set-cookie'], undefined)
      const { websockets } = (await service.gateway.request('GET', '/api/health')).json as { websockets: object }
      assert.deepEqual(websockets, { connections: 0, refused: { [status]: 1 } })
      const metrics = (await service.gateway.request('GET', '/metrics')).text
      assert.match(metrics, new RegExp(`^guard_websockets_refused_total\\{status="${status}"\\} 1$`, 'm'))
      assert.match(metrics, /^guard_websockets_open 0$/m)
    })
  it('to an upstream that is not there is answered 502', async () => {
    await using nobody = await refusingPort()
    const gateway = await startGateway({ upstream: `http://127.0.0.1:${nobody.port}` })
    const refused = await refusedHandshake(gateway)
    assert.equal(refused.status, 502)
    assert.match(refused.text, /"UPSTREAM_UNREACHABLE".*nothing listens there/)
    await gateway.close()
  })
  it('is given up with its client', async () => {
    await using service = await startSocketService()
    service.provider.handshake({ silent: true })
    const port = Number(new URL(service.gateway.url).port)
    const socket = connect(port, '127.0.0.1')
    socket.write(
      `GET /v1/responses HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\nauthorization: Bearer ${service.gateway.key}\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n`,
    )
    await until(() => service.provider.handshakes.length === 1)
    socket.end()
    await until(() => service.provider.left === 1)
    await until(async () => {
      const { json } = await service.gateway.request('GET', '/api/health')
      return (json as { websockets: { connections: number } }).websockets.connections === 0
    })
  })
})

describe('who may begin one', () => {
  it('shows a key, and nothing goes up before', async () => {
    await using service = await startSocketService()
    for (const authorization of ['Bearer wrong', '']) {
      const refused = await refusedHandshake(service.gateway, { authorization })
      assert.equal(refused.status, 401)
      assert.match(refused.text, /"code":"UNAUTHORIZED"/)
    }
    assert.equal(service.provider.handshakes.length, 0)
  })
  it('is no page of another origin, whatever key it shows', async () => {
    await using service = await startSocketService()
    for (const origin of ['https://evil.example', 'null', 'http://localhost:1', 'file://'])
      assert.equal((await refusedHandshake(service.gateway, { origin })).status, 403, origin)
    assert.equal((await refusedHandshake(service.gateway, { 'sec-fetch-site': 'cross-site' })).status, 403)
    assert.equal(service.provider.handshakes.length, 0)
    await service.connect({ origin: service.gateway.url })
  })
  it('asks for a path that is served, by GET, with a key and a version', async () => {
    await using service = await startSocketService()
    for (const path of ['/responses', '/v1/v1/responses', '/v1/responses/']) await service.connect({}, { path })
    assert.deepEqual(
      service.provider.handshakes.map(({ path }) => path),
      Array(3).fill('/v1/responses'),
    )
    for (const path of ['/v1/messages', '/v1/realtime', '/'])
      assert.equal((await refusedHandshake(service.gateway, {}, path)).status, 400, path)
    const port = Number(new URL(service.gateway.url).port)
    const head = (method: string, more: string) =>
      `${method} /v1/responses HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\nauthorization: Bearer ${service.gateway.key}\r\n${more}\r\n`
    const key = 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
    const version = 'sec-websocket-version: 13\r\n'
    assert.equal((await rawHttp(port, head('POST', key + version))).status, 405)
    assert.equal((await rawHttp(port, head('GET', version))).status, 400)
    assert.equal((await rawHttp(port, head('GET', `sec-websocket-key: short\r\n${version}`))).status, 400)
    assert.equal((await rawHttp(port, head('GET', `${key}sec-websocket-version: 12\r\n`))).status, 400)
    assert.equal((await rawHttp(port, head('GET', `${key}${version}x-guard-key: a\r\nx-guard-key: b\r\n`))).status, 400)
  })
  it('finds room', async () => {
    await using service = await startSocketService({ config: 'server: { websocket_connections: 1 }' })
    const client = await service.connect()
    const refused = await refusedHandshake(service.gateway)
    assert.equal(refused.status, 503)
    assert.equal(refused.headers['retry-after'], '1')
    assert.match(refused.text, /OVERLOADED/)
    client.socket.close()
    await client.closed
    await service.provider.last.closed
    await service.connect()
  })
})

describe('the upstream of a WebSocket', () => {
  const start = async (entries: (url: string) => string) => {
    const provider = await socketProvider()
    const gateway = await startGateway({ config: `upstreams: [${entries(provider.url)}]` })
    return {
      provider,
      gateway,
      [Symbol.asyncDispose]: async () => {
        await gateway.close()
        await provider.close()
      },
    }
  }
  const entry = (name: string, url: string, more: string): string =>
    `{ name: ${name}, base_url: "${url}", styles: [responses], ${more} }`

  it('is none where several could be meant, or where it is off: clients are to use HTTP', async () => {
    for (const entries of [
      (url: string) => `${entry('one', url, 'models: ["a*"]')}, ${entry('two', url, '')}`,
      (url: string) => entry('one', url, 'websocket: off'),
      (url: string) => `${entry('one', url, '')}, ${entry('two', url, 'websocket: off')}`,
    ]) {
      await using there = await start(entries)
      const refused = await refusedHandshake(there.gateway)
      assert.equal(refused.status, 426)
      assert.equal(there.provider.handshakes.length, 0)
      await there.gateway.close()
      assert.match(there.gateway.logText(), /"code":"HTTP_ONLY"/)
    }
  })
  it('is the one that is on, and a model of another one is refused', async () => {
    await using there = await start(
      (url) => `${entry('one', url, '')}, ${entry('two', `${url}/two`, 'websocket: on, models: ["m-*"]')}`,
    )
    using client = await socketClient(there.gateway)
    assert.equal(there.provider.handshakes[0]?.path, '/two/v1/responses')
    client.create('Hello', { model: 'other' })
    const { status, error } = (await client.next()) as unknown as {
      status: number
      error: { code: string; message: string }
    }
    assert.deepEqual([status, error.code], [404, 'NO_UPSTREAM'])
    assert.match(error.message, /"two"/)
    client.create('Hello')
    assert.equal((await client.end()).type, 'response.completed')
  })
  it('gets the model that it calls so, and no other byte is changed', async () => {
    await using there = await start((url) => entry('one', url, 'model_map: { m-1: m-9 }'))
    using client = await socketClient(there.gateway)
    client.send('{ "type":"response.create" , "model":"m-1","input":"a\\u0041"}')
    await client.end()
    assert.equal(
      String(there.provider.last.received[0]),
      '{ "type":"response.create" , "model":"m-9","input":"a\\u0041"}',
    )
  })
  it('gets another key once one is refused', async () => {
    await using there = await start((url) => entry('one', url, 'api_keys: [sk-one, sk-two]'))
    there.provider.handshake({ status: 429 })
    assert.equal((await refusedHandshake(there.gateway)).status, 429)
    using _client = await socketClient(there.gateway)
    const keys = there.provider.handshakes.map(({ headers }) => headerIn(headers, 'authorization'))
    assert.deepEqual(keys, ['Bearer sk-one', 'Bearer sk-two'])
  })
  it('gets the login of a client, where it is passed on', async () => {
    await using there = await start((url) => entry('one', url, 'auth: passthrough'))
    const { key } = there.gateway
    assert.match((await refusedHandshake(there.gateway)).text, /LOGIN_MISSING/)
    using _client = await socketClient({ url: there.gateway.url, key: 'sk-mine' }, { 'x-guard-key': key })
    assert.equal(headerIn(there.provider.handshakes[0]?.headers ?? [], 'authorization'), 'Bearer sk-mine')
  })
})
