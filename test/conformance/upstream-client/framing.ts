import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { describe, it } from 'node:test'
import type { UpstreamClient } from '#lib/upstream-client'
import { rawServer } from '../../kit/raw-server.ts'
import { connectTo, type Heard, hear } from '../../kit/upstream-client.ts'

const OK = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`

/** What a server says, and what is to be heard; `closes`: the server ends the connection behind it; `mayEnd`: the client may. */
const answers: readonly {
  readonly name: string
  readonly says: string
  readonly hears: Heard
  readonly method?: string
  readonly closes?: boolean
  readonly mayEnd?: boolean
}[] = [
  { name: 'a body of known length', says: `${OK}content-length: 5\r\n\r\nhello`, hears: { body: 'hello' } },
  { name: 'no body', says: `${OK}content-length: 0\r\n\r\n`, hears: { body: '' } },
  {
    name: 'chunks',
    says: `${CHUNKED}5\r\nhello\r\n00B\r\n, and more!\r\n0\r\n\r\n`,
    hears: { body: 'hello, and more!' },
  },
  {
    name: 'chunks with extensions',
    says: `${CHUNKED}2;a=b;c\r\nhe\r\n3;d="e;\\"f"\r\nllo\r\n0;g\r\n\r\n`,
    hears: { body: 'hello' },
  },
  { name: 'a trailer', says: `${CHUNKED}5\r\nhello\r\n0\r\nx-sum: 1\r\nx-more: 2\r\n\r\n`, hears: { body: 'hello' } },
  { name: 'a body that the connection ends', says: `${OK}\r\nhello`, hears: { body: 'hello' }, closes: true },
  { name: 'a status without a phrase', says: 'HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok', hears: { body: 'ok' } },
  {
    name: 'an older HTTP',
    says: 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok',
    hears: { body: 'ok' },
    closes: true,
  },
  {
    name: '204 with a length',
    says: 'HTTP/1.1 204 No\r\ncontent-length: 5\r\n\r\n',
    hears: { status: 204, body: '' },
    mayEnd: true,
  },
  {
    name: '304 with a length',
    says: 'HTTP/1.1 304 No\r\ncontent-length: 5\r\n\r\n',
    hears: { status: 304, body: '' },
    mayEnd: true,
  },
  { name: 'the head alone', says: `${OK}content-length: 5\r\n\r\n`, hears: { body: '' }, method: 'HEAD' },
  {
    name: 'informational heads first',
    says: `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nlink: </a>\r\n\r\n${OK}content-length: 2\r\n\r\nok`,
    hears: { body: 'ok', headers: ['content-length', '2'] },
  },
  {
    name: 'headers in their order and spelling, doubles too',
    says: `${OK}X-B: 1 \r\nx-a:\t2\r\nX-b: \xe9\r\nContent-Length: 2\r\nEmpty:\r\n\r\nok`,
    hears: { body: 'ok', headers: ['X-B', '1', 'x-a', '2', 'X-b', '\xe9', 'Content-Length', '2', 'Empty', ''] },
  },
]

const said = (socket: Socket, text: string): Promise<void> =>
  new Promise((resolve) => void socket.write(text, 'latin1', () => resolve()))

/** Says a text in two pieces that can arrive by themselves. */
const inTwo = (text: string, at: number, closes: boolean) => async (socket: Socket) => {
  await said(socket, text.slice(0, at))
  await new Promise(setImmediate)
  await said(socket, text.slice(at))
  if (closes) socket.end()
}

export const readsFraming = (client: UpstreamClient): void => {
  describe('hears', () => {
    for (const { name, says, hears, method = 'POST', closes = false, mayEnd = false } of answers)
      it(`${name}, whole and cut in two at every byte`, async () => {
        await using server = await rawServer()
        const connections = connectTo(client, server.port)
        for (let at = says.length; at >= 0; at--) {
          server.script(inTwo(says, at, closes))
          const heard = await hear(connections, { method })
          const expected = { status: 200, headers: heard.headers, ended: 'whole', ...hears }
          assert.deepEqual(heard, expected, `cut at ${at}`)
        }
        const most = closes || mayEnd ? says.length + 1 : 1
        assert.ok(server.sockets.length <= most, `${server.sockets.length} connections`)
        connections.close()
      })

    it('a large body, byte for byte', async () => {
      await using server = await rawServer()
      const connections = connectTo(client, server.port)
      const text = Array.from({ length: 100_000 }, (_, n) => `${n} `).join('')
      server.script(`${OK}content-length: ${text.length}\r\n\r\n${text}`)
      assert.equal((await hear(connections)).body, text)
      connections.close()
    })
  })

  describe('says', () => {
    it('a request with its headers in order and spelling, its body, and that it keeps the connection', async () => {
      await using server = await rawServer()
      const connections = connectTo(client, server.port)
      await hear(connections, {
        path: '/v1/\xe9?q=%20',
        headers: ['host', 'h.test', 'X-B', '1', 'x-a', '2', 'X-b', '\xe9', 'content-length', '4'],
        body: Buffer.from([0, 13, 10, 255]),
      })
      await hear(connections, { method: 'GET', path: '/v1/models', headers: ['host', 'h.test'], body: undefined })
      assert.deepEqual(
        server.requests.map((request) => request.toString('latin1')),
        [
          'POST /v1/\xe9?q=%20 HTTP/1.1\r\nhost: h.test\r\nX-B: 1\r\nx-a: 2\r\nX-b: \xe9\r\ncontent-length: 4\r\nConnection: keep-alive\r\n\r\n\0\r\n\xff',
          'GET /v1/models HTTP/1.1\r\nhost: h.test\r\nConnection: keep-alive\r\n\r\n',
        ],
      )
      connections.close()
    })
    it('bodies of every size whole', async () => {
      await using server = await rawServer()
      const connections = connectTo(client, server.port)
      for (const size of [0, 1, 16_384, 16_385, 3_000_000]) {
        const body = Buffer.alloc(size, 'abcdefghijk')
        await hear(connections, { headers: ['host', 'h', 'content-length', String(size)], body })
        const request = server.requests.at(-1) ?? Buffer.alloc(0)
        assert.ok(request.subarray(request.indexOf('\r\n\r\n') + 4).equals(body), `${size} bytes`)
      }
      connections.close()
    })
    for (const [name, bad] of [
      ['a line break in a value', { headers: ['host', 'h', 'x', 'a\r\nb: c', 'content-length', '2'] }],
      ['a space in a name', { headers: ['host', 'h', 'x y', 'z', 'content-length', '2'] }],
      ['a character beyond one byte', { headers: ['host', 'h', 'x', '€', 'content-length', '2'] }],
      ['a space in the path', { path: '/a b' }],
      ['a line break in the path', { path: '/a\r\nx: y' }],
      ['a method that is none', { method: 'PO ST' }],
    ] as const)
      it(`nothing at all for ${name}`, async () => {
        await using server = await rawServer()
        const connections = connectTo(client, server.port)
        assert.throws(() => hearSync(connections, bad), TypeError)
        await hear(connections)
        assert.equal(server.requests.length, 1)
        connections.close()
      })
    it('what it has to say over an answer that comes early', async () => {
      await using server = await rawServer()
      const connections = connectTo(client, server.port)
      const body = Buffer.alloc(20_000_000)
      const asked = hear(connections, { headers: ['host', 'h', 'content-length', String(body.length)], body })
      while (server.sockets.length === 0) await new Promise(setImmediate)
      const [socket] = server.sockets
      assert.ok(socket)
      socket.pause()
      socket.write(`HTTP/1.1 413 Large\r\ncontent-length: 3\r\n\r\nbig`)
      const heard = await asked
      assert.deepEqual([heard.status, heard.body, heard.ended], [413, 'big', 'whole'])
      socket.destroy()
      await once(socket, 'close')
      assert.equal((await hear(connections)).body, 'ok')
      assert.equal(server.sockets.length, 2)
      connections.close()
    })
  })
}

const hearSync = (connections: ReturnType<typeof connectTo>, more: Parameters<typeof hear>[1]): void => {
  connections.send(
    { method: 'POST', path: '/', headers: ['host', 'h', 'content-length', '2'], body: Buffer.from('{}'), ...more },
    { answered: () => {}, failed: () => {}, over: () => {} },
  )
}
