import assert from 'node:assert/strict'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { type Health, http, serve } from 'guard-gateway/plugins/http'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { foundation } from 'guard-gateway/presets/foundation'
import { startGateway } from '../../kit/gateway.ts'
import { parsed, rawHttp, untilClosed } from '../../kit/raw-http.ts'
import { answered, ask, begin, chatBody, KEY, PROVIDER_KEY, read, start } from './kit.ts'

const upgrade = (path: string, protocol: string, more = ''): string =>
  `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: ${protocol}\r\n${more}\r\n`

describe('upgrades', () => {
  it('to WebSocket are turned down at once with 426 on the Responses path, without a key', async () => {
    await using running = await start()
    for (const path of ['/v1/responses', '/responses', '/v1/v1/responses', '/v1/responses/?x=1']) {
      const got = await rawHttp(running.port, upgrade(path, 'websocket', 'sec-websocket-version: 13\r\n'))
      assert.deepEqual([got.status, got.body], [426, ''])
      assert.deepEqual([got.headers.upgrade, got.headers.connection], ['HTTP/1.1', 'upgrade, close'])
      assert.match(got.headers['x-guard-request-id'] ?? '', /^guardreq_/)
    }
    await running.serving.close()
    assert.equal(running.log.filter((line) => line.includes('UPGRADE_REQUIRED')).length, 4)
  })
  it('to WebSocket are 400 elsewhere, and judged like every request', async () => {
    await using running = await start()
    assert.equal((await rawHttp(running.port, upgrade('/replay', 'WebSocket'))).status, 400)
    const foreign = upgrade('/v1/responses', 'websocket').replace('host: localhost', 'host: evil.example')
    assert.equal((await rawHttp(running.port, foreign)).status, 403)
    assert.equal(
      (await rawHttp(running.port, upgrade('/v1/responses', 'websocket', 'host: localhost\r\n'))).status,
      400,
    )
  })
  it('to anything else are ignored, and the request is served', async () => {
    await using running = await start()
    const body = JSON.stringify(chatBody)
    const text = `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade, http2-settings, close\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\nx-api-key: ${KEY}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    assert.equal((await rawHttp(running.port, text)).status, 200)
    assert.ok(!running.provider.last.headers.some((entry) => /upgrade|http2-settings/i.test(entry)))
  })
})

describe('the end', () => {
  it('lets an open stream end, refuses new requests with 503, and stops listening', async () => {
    const running = await start()
    const { promise, resolve } = Promise.withResolvers<void>()
    running.provider.script({ until: promise })
    const metadata = running.provider.next()
    const open = answered(begin(running.port, { body: { ...chatBody, stream: true } }))
    await metadata
    const kept = connect(running.port, '127.0.0.1')
    await once(kept, 'connect')
    // started before the end, so the connection is in use when its request comes
    kept.write(`POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${KEY}\r\n`)
    await ask(running.port, { method: 'GET', path: '/api/health', key: null })
    const closing = running.serving.close()
    const rest = untilClosed(kept)
    kept.write('content-length: 2\r\n\r\n{}')
    const refused = parsed(await rest)
    assert.deepEqual([refused.status, refused.headers.connection], [503, 'close'])
    assert.equal(JSON.parse(refused.body).error.code, 'SHUTTING_DOWN')
    resolve()
    assert.equal((await read(await open)).complete, true)
    await closing
    const late = connect(running.port, '127.0.0.1')
    const [error] = (await once(late, 'error')) as [NodeJS.ErrnoException]
    assert.equal(error.code, 'ECONNREFUSED')
    assert.deepEqual(
      running.settled.map(({ outcome }) => outcome),
      ['ok'],
    )
    await running[Symbol.asyncDispose]()
  })
  it('breaks off what is still open after the grace and records it as interrupted', async () => {
    const running = await start({ server: { shutdown_grace_seconds: 0.05 } })
    running.provider.script({ stall_at: 100 }, { silent: true })
    const response = await answered(begin(running.port, { body: { ...chatBody, stream: true } }))
    const broken = read(response)
    const metadata = running.provider.next()
    const waiting = begin(running.port, { body: chatBody })
    const failed = once(waiting, 'error')
    await metadata
    await running.serving.close()
    const got = await broken
    assert.deepEqual([got.complete, got.body.length], [false, 100])
    await failed
    assert.deepEqual(
      running.settled.map(({ outcome }) => outcome),
      ['interrupted', 'interrupted'],
    )
    await running[Symbol.asyncDispose]()
  })
  it('waits for no request after the grace whose body is half sent', { timeout: 30_000 }, async (test) => {
    const running = await start({ server: { shutdown_grace_seconds: 0 } })
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${KEY}\r\ncontent-type: application/json\r\n`
    const sockets = ['content-length: 1000\r\n\r\n{"mod', 'transfer-encoding: chunked\r\n\r\n5\r\n{"mod'].map(
      (rest) => {
        const socket = connect(running.port, '127.0.0.1', () => socket.write(head + rest))
        socket.on('error', () => {})
        return socket
      },
    )
    const closed = sockets.map((socket) => once(socket, 'close'))
    const health = async () => (await (await fetch(`${running.serving.url}/api/health`)).json()) as Health
    const inFlight = async () => ((await health()).http as { readonly in_flight: number }).in_flight
    while ((await inFlight()) < 2) await new Promise(setImmediate)
    // no time passes that it could wait for
    test.mock.method(performance, 'now', () => 1)
    await running.serving.close()
    await Promise.all(closed)
    assert.deepEqual([running.settled, running.faults], [[], []])
    await running[Symbol.asyncDispose]()
  })
  it('waits for no connection that is idle, that nobody has used yet, or that listens', {
    timeout: 30_000,
  }, async (test) => {
    const gateway = await startGateway()
    const port = Number(new URL(gateway.url).port)
    const opened = async (text: string) => {
      const socket = connect(port, '127.0.0.1')
      await once(socket, 'connect')
      if (text !== '') socket.write(`${text}\r\nhost: 127.0.0.1:${port}\r\n\r\n`)
      return { closed: once(socket.resume(), 'close'), answers: text === '' ? [] : await once(socket, 'data') }
    }
    // the connections are taken in order, so the first one is known by now
    const unused = await opened('')
    const used = await opened('GET /api/health HTTP/1.1')
    const listens = await opened('GET /api/v1/stream HTTP/1.1')
    // no time passes from here on
    test.mock.timers.enable({ apis: ['setTimeout'] })
    await gateway.close()
    await Promise.all([unused.closed, used.closed, listens.closed])
  })
  it('comes also when somebody closes the gateway, and again harmlessly', async () => {
    const running = await start()
    await running.gateway.close()
    await running.serving.close()
    await running.serving.close()
    await running[Symbol.asyncDispose]()
  })
})

describe('serve', () => {
  it('tells where it listens and rejects with the system’s error when it cannot', async () => {
    await using running = await start()
    assert.equal(running.serving.url, `http://127.0.0.1:${running.port}`)
    const gateway = new Gateway().use(...foundation(), memory(), http({ gateway_key: KEY }))
    await assert.rejects(serve(gateway, { port: running.port }), { code: 'EADDRINUSE', syscall: 'listen' })
  })
  it('on localhost serves every address of that name', async () => {
    await using running = await start({ server: { host: 'localhost' } })
    for (const { address, family } of await lookup('localhost', { all: true })) {
      const host = family === 6 ? `[${address}]` : address
      assert.equal((await fetch(`http://${host}:${running.port}/livez`)).status, 200)
    }
  })
  it('without the plugin says what is missing', async () => {
    await assert.rejects(serve(new Gateway().use(...foundation(), memory()), { port: 0 }), { code: 'MISSING_PLUGIN' })
  })
})

describe('health', () => {
  const health = async (port: number): Promise<Health> => {
    const got = await ask(port, { method: 'GET', path: '/api/health', key: null })
    return JSON.parse(got.body.toString()) as Health
  }
  it('tells version, plugins and what each feature says', async () => {
    await using running = await start()
    running.gateway.health.set('prices', () => ({ status: 'ok', models: 3 }))
    const told = await health(running.port)
    assert.equal(told.status, 'ok')
    assert.match(told.version, /^\d+\.\d+\.\d+/)
    assert.ok(told.uptime_seconds >= 0)
    assert.ok(told.plugins.includes('http') && told.plugins.includes('upstream'))
    assert.deepEqual(told.prices, { status: 'ok', models: 3 })
    assert.ok(!JSON.stringify(told).includes(PROVIDER_KEY) && !JSON.stringify(told).includes(KEY))
  })
  it('is degraded when a feature is not well, or cannot tell', async () => {
    await using running = await start()
    running.gateway.health.set('prices', () => ({ status: 'failing' }))
    assert.equal((await health(running.port)).status, 'degraded')
    running.gateway.health.set('prices', () => {
      throw new Error('no')
    })
    assert.deepEqual((await health(running.port)).prices, { status: 'unknown' })
    assert.match(running.faults.join(), /health:prices/)
  })
})
