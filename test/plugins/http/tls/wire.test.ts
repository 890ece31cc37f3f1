import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { connect as connectTls, type SecureVersion } from 'node:tls'
import { authority, signed } from '../../../kit/private-authority.ts'
import type { Script } from '../../../kit/provider.ts'
import { untilClosed } from '../../../kit/raw-http.ts'
import { chatReply, replyFor } from '../../../kit/replies.ts'
import { chatBody, KEY, type Started, start } from '../kit.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-tls-'))
after(() => rmSync(folder, { recursive: true }))
const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem'), passphrase: '', ca: '' }
writeFileSync(files.cert, signed.cert)
writeFileSync(files.key, signed.key)

const open = async (port: number, isTls: boolean): Promise<Socket> => {
  if (!isTls) return connect(port, '127.0.0.1')
  const socket = connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca: authority })
  await once(socket, 'secureConnect')
  return socket
}

/** What differs from one request to the next. */
const masked = (bytes: Buffer): string =>
  bytes
    .toString('latin1')
    .replaceAll(/\b(guardreq|ses|run|req)_[0-9A-Za-z]+/g, '$1_')
    .replaceAll(/^date: .*\r$/gim, 'date: \r')
    .replaceAll(/^(x-guard-(?:trace|session)[^:]*): .*\r$/gim, '$1: \r')

const post = (path: string, body: string, more = ''): string =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\nX-Own-Header:  Grüße \r\nx-own-header-2: b\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${more}Connection: close\r\n\r\n${body}`

const streamed = { ...chatBody, stream: true }
const large = JSON.stringify({
  ...chatBody,
  messages: [{ role: 'user', content: `${'a €uro '.repeat(150_000)}` }],
})
const largeReply = `{"text":"${'r €uro '.repeat(150_000)}"}`
const json = { 'content-type': 'application/json' }
const sse = { 'content-type': 'text/event-stream' }

const exchanges: readonly (readonly [string, string, Script])[] = [
  ['a reply', post('/v1/chat/completions', JSON.stringify(chatBody)), {}],
  [
    'a stream in pieces',
    post('/v1/chat/completions', JSON.stringify(streamed)),
    { body: chatReply(true, 'Grüße €').body, headers: sse, chunked: true, pieces: [3, 17, 1, 250] },
  ],
  [
    'a stream of another style',
    post('/v1/responses', JSON.stringify({ model: 'm-1', input: 'Hi', stream: true })),
    { body: replyFor('/v1/responses', true).body, headers: sse, chunked: true, pieces: [64] },
  ],
  [
    'a megabyte both ways',
    post('/v1/chat/completions', large),
    { body: largeReply, headers: json, pieces: [65_537, 3, 100_000] },
  ],
  [
    'an error',
    post('/v1/chat/completions', JSON.stringify(chatBody)),
    { status: 529, body: '{"error":1}', headers: json },
  ],
  [
    'a reply that breaks off',
    post('/v1/chat/completions', JSON.stringify(streamed)),
    { body: chatReply(true).body, headers: sse, chunked: true, cut_at: 200 },
  ],
  [
    'a reply to HTTP/1.0 that breaks off',
    post('/v1/chat/completions', JSON.stringify(streamed)).replace('HTTP/1.1', 'HTTP/1.0'),
    { body: chatReply(true).body, headers: sse, chunked: true, cut_at: 200 },
  ],
  ['a wrong key', post('/v1/chat/completions', '{}').replace(KEY, 'another-key'), {}],
  ['another host', post('/v1/chat/completions', '{}').replace('localhost', 'elsewhere.example'), {}],
  ['no HTTP', 'GET / HTTP/9.9\r\n\r\n', {}],
  ['a body that is too large', post('/v1/chat/completions', 'x'.repeat(2_000_000)), {}],
]

describe('the wire by TLS', () => {
  for (const [title, request, script] of exchanges) {
    it(`is that of a plain listener: ${title}`, async () => {
      const seen = async (isTls: boolean) => {
        const server = { body_limit_bytes: 1_900_000, ...(isTls ? { tls: files } : {}) }
        await using running: Started = await start({ server })
        running.provider.script(script)
        const socket = await open(running.port, isTls)
        socket.write(request)
        const answer = masked(await untilClosed(socket))
        const received = running.provider.requests.map(({ method, path, headers, body }) => ({
          method,
          path,
          headers: headers.map((text) => text.replace(/127\.0\.0\.1:\d+/, 'provider')),
          body: body.toString('latin1'),
        }))
        assert.deepEqual(running.faults, [])
        return { answer, received, outcomes: running.settled.map(({ outcome }) => outcome) }
      }
      const [plain, tls] = [await seen(false), await seen(true)]
      assert.ok(plain.answer.length > 40)
      assert.deepEqual(tls, plain)
    })
  }

  it('keeps a connection for several requests, and asks for a body that waits', async () => {
    await using running = await start({ server: { tls: files } })
    const socket = await open(running.port, true)
    const body = JSON.stringify(chatBody)
    const [head, rest] = post('/v1/chat/completions', body, 'Expect: 100-continue\r\n').split('\r\n\r\n') as [
      string,
      string,
    ]
    socket.write(post('/v1/chat/completions', body).replace('Connection: close', 'Connection: keep-alive'))
    await once(socket, 'data')
    socket.write(`${head}\r\n\r\n`)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    assert.match(answer.toString(), /^HTTP\/1\.1 100 Continue\r\n\r\n/)
    socket.write(rest)
    assert.match((await untilClosed(socket)).toString(), /^HTTP\/1\.1 200 OK\r\n/)
    assert.equal(running.provider.requests.length, 2)
  })

  it('speaks TLS 1.2 and 1.3, nothing older, and HTTP/1.1', async () => {
    await using running = await start({ server: { tls: files } })
    const handshake = async (version: SecureVersion) => {
      const options = { port: running.port, host: '127.0.0.1', servername: 'localhost', ca: authority }
      const socket = connectTls({
        ...options,
        minVersion: version,
        maxVersion: version,
        ciphers: 'ALL:@SECLEVEL=0',
        ALPNProtocols: ['h2', 'http/1.1'],
      })
      try {
        await once(socket, 'secureConnect')
        return [socket.getProtocol(), socket.alpnProtocol]
      } catch (error) {
        return (error as NodeJS.ErrnoException).code
      } finally {
        socket.destroy()
      }
    }
    assert.deepEqual(await handshake('TLSv1.3'), ['TLSv1.3', 'http/1.1'])
    assert.deepEqual(await handshake('TLSv1.2'), ['TLSv1.2', 'http/1.1'])
    assert.match(String(await handshake('TLSv1.1')), /ERR_SSL_/)
  })

  it('closes connections that speak no TLS, and goes on', async () => {
    await using running = await start({ server: { tls: files } })
    for (const bytes of ['GET /api/health HTTP/1.1\r\nhost: localhost\r\n\r\n', 'SSH-2.0-x\r\n']) {
      const socket = connect(running.port, '127.0.0.1')
      socket.write(Buffer.from(bytes, 'latin1'))
      assert.doesNotMatch((await untilClosed(socket)).toString('latin1'), /HTTP/)
    }
    const socket = await open(running.port, true)
    socket.write(post('/v1/chat/completions', JSON.stringify(chatBody)))
    assert.match((await untilClosed(socket)).toString(), /^HTTP\/1\.1 200/)
    assert.deepEqual(running.faults, [])
  })
})
