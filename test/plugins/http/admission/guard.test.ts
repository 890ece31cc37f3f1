import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { parsed, rawHttp } from '../../../kit/raw-http.ts'
import { ask, chatBody, jsonOf, KEY, type Started, start } from '../kit.ts'
import { everyClass, reached } from '../routes.ts'

const body = JSON.stringify(chatBody)
const head = (lines: readonly string[], target = '/v1/chat/completions'): string =>
  [`POST ${target} HTTP/1.1`, ...lines, `content-length: ${body.length}`, 'connection: close', '', body].join('\r\n')

describe('what every request must pass', () => {
  let running: Started
  let host = ''
  let well: readonly string[] = []
  before(async () => {
    running = await start({
      plugins: [everyClass],
      server: { allowed_hosts: ['Guard.Example'] },
      mcp: { allowed_hosts: ['mcp.example'] },
      passthrough: ['/v1/files/*'],
    })
    host = `host: 127.0.0.1:${running.port}`
    well = [host, `authorization: Bearer ${KEY}`, 'content-type: application/json']
  })
  after(() => running[Symbol.asyncDispose]())

  const refusedWith = async (text: string, status: number, code: string): Promise<void> => {
    const requests = running.provider.requests.length
    const count = reached.length
    const got = await rawHttp(running.port, text)
    assert.equal(got.status, status, got.bytes.toString())
    assert.ok(got.body.includes(`"${code}"`), got.body)
    assert.match(got.headers['x-guard-request-id'] ?? '', /^guardreq_/)
    assert.equal(running.provider.requests.length, requests)
    assert.equal(reached.length, count)
  }

  it('lets a well-formed request through', async () => {
    assert.equal((await rawHttp(running.port, head(well))).status, 200)
  })

  it('finds nothing under an empty name', async () => {
    await refusedWith(`GET /api/things/?a=1 HTTP/1.1\r\n${host}\r\nconnection: close\r\n\r\n`, 404, 'NOT_FOUND')
  })

  for (const target of [
    'http://evil.example/v1/chat/completions',
    'v1/chat/completions',
    '*',
    '/v1/%00',
    '/v1/chat/completions?a=%0a',
    '/api/%1b',
  ]) {
    it(`refuses the target ${target}`, async () => {
      const got = await rawHttp(running.port, head(well, target))
      assert.equal(got.status, 400)
      assert.match(got.body, /INVALID_TARGET|MALFORMED_REQUEST/)
    })
  }
  for (const target of ['/api/things/%zz', `/api/things/${'x'.repeat(5_000)}`])
    it(`refuses the target ${target.slice(0, 16)}, which no route can read, with the headers of every answer`, async () => {
      await refusedWith(head(well, target), 400, 'INVALID_TARGET')
      const { headers } = await rawHttp(running.port, head(well, target))
      assert.deepEqual([headers['x-content-type-options'], headers['cache-control']], ['nosniff', 'no-store'])
    })
  for (const path of [
    '/v1/models/../files',
    '/v1/models/%2e%2E/files',
    '/v1/models/.%2e/files',
    '/v1/models/..%2ffiles',
    '/v1/models/x/../../organization/api_keys',
    '/models/../files',
    '/v1/v1/models/..',
    '/v1/models/./a',
    '/v1/models/..\\files',
    '/v1/models/..%5cfiles',
    '/v1/models/a%5C..%5Cfiles',
    '/v1/models/..;a=b/files',
    '/v1/models/%252e%252e/files',
    '/v1/models/..%3fa',
    '/v1/models/..?a=b',
    '/v1/files/../chat/completions',
    '/v1/files/%2e%2e/chat/completions',
    '/v1/files%2f..%2fchat/completions',
    '/v1/nothing/../files',
  ])
    it(`forwards nothing to ${path}, which an upstream could resolve`, async () => {
      for (const method of ['GET', 'POST'])
        await refusedWith(head(well, path).replace('POST', method), 400, 'INVALID_TARGET')
    })
  it('refuses an upgrade to a path that an upstream could resolve', async () => {
    const lines = [host, 'connection: upgrade', 'upgrade: websocket', `authorization: Bearer ${KEY}`]
    await refusedWith(`GET /v1/models/../responses HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, 400, 'INVALID_TARGET')
  })
  it('takes dots that are part of a name or of a query', async () => {
    for (const path of [
      '/v1/files/...',
      '/v1/files/.a',
      '/v1/files/a..b/gpt-5.4',
      '/v1/files/a?b=/../c',
      '/v1/files/a.',
    ]) {
      assert.equal((await rawHttp(running.port, head(well, path))).status, 200, path)
      assert.equal(running.provider.last.path, path)
    }
  })
  it('refuses CONNECT', async () => {
    const got = await rawHttp(running.port, `CONNECT evil.example:443 HTTP/1.1\r\n${host}\r\n\r\n`)
    assert.ok(got.status === 0 || got.status >= 400)
  })
  it('a model path in percent signs is refused, with a key and without', async () => {
    const spelled = head([host, 'content-type: application/json'], '/%76%31/chat/completions')
    assert.equal((await rawHttp(running.port, spelled)).status, 400)
    await refusedWith(head(well, '/%76%31/chat/completions'), 400, 'ENCODED_PATH')
  })

  for (const name of [
    'host',
    'origin',
    'content-type',
    'authorization',
    'x-api-key',
    'x-client-session-id',
    'x-guard-session-id',
    'x-guard-anything',
    'mcp-session-id',
    'mcp-protocol-version',
    'sec-fetch-site',
    'sec-fetch-something',
  ]) {
    it(`refuses ${name} twice`, async () => {
      const value =
        name === 'host' ? `127.0.0.1:${running.port}` : name === 'content-type' ? 'application/json' : `Bearer ${KEY}`
      const rest = well.filter((line) => !line.startsWith(`${name}:`))
      const twice = [`${name}: ${value}`, `${name.toUpperCase()}: ${value}`]
      await refusedWith(head([...rest, ...twice]), 400, 'INVALID_HEADER')
    })
  }
  it('takes two different headers of one family, and other headers twice', async () => {
    const lines = [
      'x-guard-one: 1',
      'x-guard-two: 2',
      'accept: a/b',
      'accept: c/d',
      'sec-fetch-user: ?1',
      'sec-fetch-other: x',
    ]
    assert.equal((await rawHttp(running.port, head([...well, ...lines]))).status, 200)
  })

  for (const name of [
    '127.0.0.1',
    'localhost',
    'LOCALHOST:1234',
    '[::1]:8787',
    'guard.example',
    'GUARD.example:99',
    'mcp.example',
  ]) {
    it(`serves the host ${name}`, async () => {
      assert.equal((await rawHttp(running.port, head([`host: ${name}`, ...well.slice(1)]))).status, 200)
    })
  }
  for (const name of [
    'evil.example',
    '127.0.0.1.evil.example',
    'localhost.',
    'xlocalhost',
    '127.0.0.2',
    '[::2]',
    'sub.guard.example',
    '2130706433',
    '0.0.0.0',
  ]) {
    it(`refuses the host ${name} on every class of route`, async () => {
      for (const target of [
        '/v1/chat/completions',
        '/api/things',
        '/replay',
        '/mcp/files',
        '/nowhere',
        '/v1/nowhere',
        '/api/health',
      ]) {
        await refusedWith(head([`host: ${name}`, ...well.slice(1)], target), 403, 'HOST_NOT_ALLOWED')
      }
    })
  }
  for (const name of ['', 'a b', 'localhost:port', 'localhost:123456', 'user@localhost', '[::1', 'localhost/']) {
    it(`refuses the malformed host "${name}"`, () =>
      refusedWith(head([`host: ${name}`, ...well.slice(1)]), 400, 'INVALID_HEADER'))
  }
  it('refuses a request without host, also in HTTP/1.0', async () => {
    await refusedWith(head(well.slice(1)), 400, 'INVALID_HEADER')
    await refusedWith(head(well.slice(1)).replace('HTTP/1.1', 'HTTP/1.0'), 400, 'INVALID_HEADER')
  })
  it('reads no forwarding header', () =>
    refusedWith(
      head(['host: evil.example', 'x-forwarded-host: localhost', 'forwarded: host=localhost', ...well.slice(1)]),
      403,
      'HOST_NOT_ALLOWED',
    ))

  describe('smuggling', () => {
    const smuggled = (lines: readonly string[], rest: string): string =>
      [`POST /v1/chat/completions HTTP/1.1`, ...well, ...lines, '', rest].join('\r\n')
    for (const [name, text] of [
      ['two lengths', smuggled(['content-length: 5', 'content-length: 6'], 'hello')],
      ['a length and chunks', smuggled(['content-length: 5', 'transfer-encoding: chunked'], '0\r\n\r\n')],
      ['an odd transfer coding', smuggled(['transfer-encoding: chunked, identity'], '0\r\n\r\n')],
      ['a length with a sign', smuggled(['content-length: +5'], 'hello')],
      ['a header name with a blank', smuggled(['content-length : 5'], 'hello')],
      ['a folded header', smuggled(['x-one: 1', '\tfolded'], '')],
      ['a bare line feed in a head', smuggled(['x-one: 1\nx-two: 2'], '')],
      ['a broken chunk size', smuggled(['transfer-encoding: chunked'], 'zz\r\nhello\r\n0\r\n\r\n')],
    ] as const) {
      it(`answers ${name} with an error and ends the connection`, async () => {
        const requests = running.provider.requests.length
        const got = await rawHttp(running.port, text)
        assert.ok(got.status >= 400 && got.status < 500, got.bytes.toString())
        assert.equal(got.bytes.toString().match(/HTTP\/1\.1 \d/g)?.length, 1)
        assert.equal(running.provider.requests.length, requests)
      })
    }
    it('answers a head that is too large with 431', async () => {
      const got = await rawHttp(running.port, head([...well, `x-large: ${'a'.repeat(40_000)}`]))
      assert.deepEqual([got.status, JSON.parse(got.body).error.code], [431, 'HEADERS_TOO_LARGE'])
    })
    it('answers bytes that are no HTTP with 400', async () => {
      const got = parsed((await rawHttp(running.port, 'HELO there\r\n\r\n')).bytes)
      assert.deepEqual([got.status, JSON.parse(got.body).error.code], [400, 'MALFORMED_REQUEST'])
    })
  })

  it('the transport and the receiver want a key', async () => {
    for (const path of ['/mcp/files', '/v1/traces']) {
      const got = await ask(running.port, { path, body: {}, key: 'wrong' })
      assert.deepEqual([got.status, jsonOf(got).error.code], [401, 'UNAUTHORIZED'])
    }
  })
})
