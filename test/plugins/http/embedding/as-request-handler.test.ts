import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { fakeProvider } from '../../../kit/provider.ts'
import { ask, jsonOf, KEY, messagesBody } from '../kit.ts'
import { fromBeyond, gatewayFor, hosted, localProxy } from './kit.ts'

const handshake = (port: number, path: string) =>
  [
    `GET ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    'connection: upgrade',
    'upgrade: websocket',
    'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
    'sec-websocket-version: 13',
    `authorization: Bearer ${KEY}`,
    '\r\n',
  ].join('\r\n')

describe('a gateway in a server of somebody else’s', () => {
  it('serves its paths and leaves all others with their address and body', async () => {
    await using provider = await fakeProvider()
    await using host = await hosted(
      gatewayFor(provider),
      (guard) => (request, response) =>
        guard.handle(request, response, async () => response.end(`host: ${request.url} ${await text(request)}`)),
    )
    const { port } = host
    const reply = await ask(port, { path: '/v1/messages', body: messagesBody })
    assert.equal(reply.status, 200)
    assert.match(String(reply.headers['x-guard-request-id']), /^guardreq_/)
    assert.equal((await ask(port, { method: 'GET', path: '/api/health' })).status, 200)
    assert.equal(jsonOf(await ask(port, { path: '/v1/nothing', body: {} })).error.code, 'NOT_FOUND')
    const left = await ask(port, {
      path: '/mine//twice?a=1',
      body: 'a body of the host’s',
      headers: { host: 'evil.example' },
    })
    assert.equal(String(left.body), 'host: /mine//twice?a=1 a body of the host’s')
    assert.equal(left.headers['x-guard-request-id'], undefined)
    assert.equal(String((await ask(port, { method: 'GET', path: '/livez' })).body), 'host: /livez ')
  })

  it('answers 404 where nothing follows it', async () => {
    await using provider = await fakeProvider()
    await using host = await hosted(gatewayFor(provider))
    const got = await ask(host.port, { method: 'GET', path: '/nowhere' })
    assert.deepEqual([got.status, String(got.body)], [404, 'There is nothing at this path.\n'])
  })

  it('refuses a request whose body a parser before it has read, and says so', async () => {
    await using provider = await fakeProvider()
    await using host = await hosted(gatewayFor(provider), (guard) => async (request, response) => {
      await text(request)
      guard.handle(request, response)
    })
    const got = await ask(host.port, { path: '/v1/messages', body: messagesBody })
    assert.equal(got.status, 500)
    assert.match(
      String(jsonOf(got).error.message),
      /has read the body of the request. Let it call the gateway before its body/,
    )
    assert.deepEqual(provider.requests, [])
  })

  it('asks for keys once a connection has come from beyond loopback', async () => {
    await using provider = await fakeProvider()
    await using host = await hosted(gatewayFor(provider), (guard) => (request, response) => {
      if (request.headers['x-from'] === 'beyond') fromBeyond(request)
      guard.handle(request, response)
    })
    const anonymous = { method: 'GET', path: '/api/health', key: null } as const
    const health = async (headers = {}) => Object.keys(jsonOf(await ask(host.port, { ...anonymous, headers })))
    assert.ok((await health()).includes('upstreams'))
    assert.ok(!(await health({ 'x-from': 'beyond' })).includes('upstreams'))
    assert.ok(!(await health()).includes('upstreams'))
  })

  it('serves handshakes at its own paths and leaves those of the host alone', async () => {
    await using provider = await fakeProvider()
    await using host = await hosted(gatewayFor(provider))
    host.server.on('upgrade', host.guard.upgrade)
    host.server.on('upgrade', (request, socket) => {
      if (request.url === '/mine') socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\nhost')
    })
    const said = async (path: string) => {
      const socket = connect(host.port, '127.0.0.1')
      socket.end(handshake(host.port, path))
      return await text(socket)
    }
    assert.match(await said('/v1/responses'), /^HTTP\/1\.1 426 /)
    assert.match(await said('/mine'), /host$/)
  })

  it('lets a reply under way end before it closes, and takes no new request', async () => {
    await using provider = await fakeProvider()
    const gateway = gatewayFor(provider)
    let isClosed = false
    gateway.hooks.close.tap('test', () => {
      isClosed = true
    })
    await using host = await hosted(gateway)
    const { promise, resolve: release } = Promise.withResolvers<void>()
    provider.script({ until: promise })
    const under_way = ask(host.port, { path: '/v1/messages', body: messagesBody })
    await provider.next()
    const closing = host.guard.close()
    const refused = await ask(host.port, { path: '/v1/messages', body: messagesBody })
    assert.equal(jsonOf(refused).error.code, 'SHUTTING_DOWN')
    assert.equal(isClosed, false)
    release()
    assert.equal((await under_way).status, 200)
    await closing
    assert.equal(isClosed, true)
  })

  it('lets no header of a trusted proxy through to the provider', async () => {
    await using provider = await fakeProvider()
    await using host = await hosted(gatewayFor(provider, { auth_proxy: localProxy }))
    await ask(host.port, { path: '/v1/messages', body: messagesBody, headers: { 'x-forwarded-user': 'ada' } })
    assert.equal(provider.requests.length, 1)
    assert.doesNotMatch(JSON.stringify(provider.requests[0]), /ada/)
  })
})
