import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, RequestListener } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2 } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import Fastify from 'fastify'
import { GuardError, type Plugin } from 'guard-gateway/core'
import { asFastifyPlugin, asRequestHandler, type EmbeddedGateway } from 'guard-gateway/plugins/http'
import { socketRouteKind } from '#lib/http'
import { fakeProvider } from '../../../kit/provider.ts'
import { rawHttp } from '../../../kit/raw-http.ts'
import { ask, jsonOf, KEY, messagesBody } from '../kit.ts'
import { gatewayFor, hosted, localProxy } from './kit.ts'

/** A host that tells how a request reaches it. */
const telling =
  (guard: EmbeddedGateway): RequestListener =>
  (request: IncomingMessage & { originalUrl?: string }, response) => {
    request.originalUrl = '/as-it-was'
    guard.handle(request, response, () =>
      response.end(
        ['host:', request.url, request.originalUrl, request.headers.host, request.headers['x-forwarded-user']].join(
          ' ',
        ),
      ),
    )
  }

const lines = (...all: readonly string[]) => `${all.join('\r\n')}\r\n\r\n`
const body = JSON.stringify(messagesBody)
const offer = ['host: 127.0.0.1', 'connection: Upgrade, HTTP2-Settings, close', 'upgrade: h2c', 'http2-settings: AAMA']

describe('unusual requests to a gateway in a server of somebody else’s', () => {
  it('leaves paths that cannot be decoded to the host, but for those below its own', async () => {
    await using provider = await fakeProvider()
    await using host = await hosted(gatewayFor(provider), telling)
    const get = (path: string) => ask(host.port, { method: 'GET', path })
    for (const path of ['/mine/%zz', '/%', '/%E0%A4%A']) assert.match(String((await get(path)).body), /^host: \/.*%/)
    for (const path of ['/api/%zz', '/v1/%zz', '/v1beta/%zz'])
      assert.match(String((await get(path)).body), /INVALID_TARGET|target cannot be used/, path)
  })

  it('leaves address, host and headers of the host’s requests as they came', async () => {
    await using provider = await fakeProvider()
    await using host = await hosted(gatewayFor(provider, { auth_proxy: localProxy }), telling)
    const got = await rawHttp(
      host.port,
      lines('GET http://localhost/mine HTTP/1.1', 'host: other.example', 'x-forwarded-user: ada', 'connection: close'),
    )
    assert.match(got.body, /host: http:\/\/localhost\/mine \/as-it-was other\.example ada/)
  })

  it('leaves the headers of a trusted proxy to the routes of a Fastify application', async () => {
    await using provider = await fakeProvider()
    const app = Fastify()
    app.get('/mine', async ({ headers }) => headers['x-forwarded-user'])
    await app.register(asFastifyPlugin(gatewayFor(provider, { auth_proxy: localProxy })))
    const got = await app.inject({ url: '/mine', headers: { 'x-forwarded-user': 'ada' } })
    assert.equal(got.body, 'ada')
    await app.close()
  })

  it('serves a request that offers HTTP/2 as Java does, on paths of both', async () => {
    await using provider = await fakeProvider()
    await using host = await hosted(gatewayFor(provider), telling)
    host.server.on('upgrade', host.guard.upgrade)
    const json = [`x-api-key: ${KEY}`, 'content-type: application/json', `content-length: ${body.length}`]
    const got = await rawHttp(host.port, lines('POST /v1/messages HTTP/1.1', ...offer, ...json) + body)
    assert.equal(got.status, 200, got.body)
    assert.equal(provider.requests.length, 1)
    assert.match((await rawHttp(host.port, lines('GET /mine HTTP/1.1', ...offer))).body, /host: \/mine /)
  })

  it('takes what a trusted proxy says out of handshakes too', async () => {
    await using provider = await fakeProvider()
    let seen: readonly string[] = []
    const sockets: Plugin = {
      name: 'sockets',
      apply: (gateway) =>
        void gateway.registry(socketRouteKind).add({
          id: 'sockets',
          paths: ['/v1/responses'],
          open: async (upgrade) => {
            seen = upgrade.proxied.raw_headers
            upgrade.refuse(new GuardError('INVALID_REQUEST'))
          },
        }),
    }
    await using host = await hosted(gatewayFor(provider, { auth_proxy: localProxy }).use(sockets))
    host.server.on('upgrade', host.guard.upgrade)
    const webSocket = ['sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==', 'sec-websocket-version: 13', `x-api-key: ${KEY}`]
    const handshake = ['host: 127.0.0.1', 'connection: upgrade', 'upgrade: websocket', ...webSocket]
    await rawHttp(host.port, lines('GET /v1/responses HTTP/1.1', ...handshake, 'X-Forwarded-User: ada', 'x-more: 1'))
    assert.ok(seen.includes('x-more'))
    assert.doesNotMatch(seen.join(), /ada/)
  })

  it('refuses a WebSocket that nobody serves', async () => {
    await using provider = await fakeProvider()
    await using host = await hosted(gatewayFor(provider))
    host.server.on('upgrade', host.guard.upgrade)
    const handshake = lines('GET /mine HTTP/1.1', 'host: 127.0.0.1', 'connection: upgrade', 'upgrade: websocket')
    const got = await rawHttp(host.port, handshake)
    assert.deepEqual([got.status, got.body], [404, 'There is no WebSocket at this path.\n'])
    host.server.on('upgrade', (_request, socket) => void socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\nhost'))
    assert.match((await rawHttp(host.port, handshake)).body, /host$/)
  })

  it('says that it speaks no HTTP/2, and leaves the host’s requests by it alone', async () => {
    await using provider = await fakeProvider()
    const guard = await asRequestHandler(gatewayFor(provider))
    // what the compatibility layer of Node passes on looks like requests of HTTP/1.1
    const listener = guard.handle as unknown as (request: unknown, response: unknown, next: () => void) => void
    const server = createHttp2((request, response) => listener(request, response, () => void response.end('host')))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const get = (path: string, headers = {}) => text(session.request({ ':path': path, 'x-api-key': KEY, ...headers }))
    assert.equal(await get('/mine'), 'host')
    for (const path of ['/api/health', '/v1/models']) {
      const { error } = jsonOf({ body: Buffer.from(await get(path, { host: 'localhost' })) })
      assert.match(
        String(error.message),
        /speaks HTTP\/1\.1 alone, and this request came by HTTP\/2\. Ask by HTTP\/1\.1/,
      )
    }
    session.close()
    await guard.close()
    server.close()
  })
})
