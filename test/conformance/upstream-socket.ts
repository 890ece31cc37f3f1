import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { describe, it } from 'node:test'
import type { MessageSocket, UpstreamAddress, UpstreamSocket } from '#lib/upstream-client'

const NEVER = new AbortController().signal

/** A server whose end of each WebSocket is the thing under test, too. */
const server = async (sockets: UpstreamSocket, onSocket: (socket: MessageSocket) => void, maxBytes = 1_000_000) => {
  const requests: IncomingMessage[] = []
  const http = createServer((_request, response) => response.writeHead(418, { 'x-why': 'tea' }).end('short'))
  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    requests.push(request)
    void sockets
      .accept({ request, socket, head, headers: ['x-said', 'caf\xc3\xa9'], max_bytes: maxBytes })
      .then((accepted) => accepted && onSocket(accepted))
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const { port } = http.address() as AddressInfo
  return {
    requests,
    address: { secure: false, hostname: '127.0.0.1', port, connect_ms: 5_000, idle_ms: 5_000 },
    [Symbol.dispose]: () => {
      http.close()
      http.closeAllConnections()
    },
  }
}

const dialTo = (
  sockets: UpstreamSocket,
  address: UpstreamAddress,
  headers: readonly string[] = [],
  more: { path?: string; handshake_ms?: number; compress?: boolean } = {},
) =>
  sockets.dial(
    { address, path: '/a//b?c=%20d', headers, compress: false, max_bytes: 1_000_000, handshake_ms: 5_000, ...more },
    NEVER,
  )

const heard = (socket: MessageSocket) => {
  const messages: string[] = []
  const { promise, resolve } = Promise.withResolvers<{ code: number; reason: string }>()
  let arrived = (): void => {}
  socket.listen({
    message: (bytes, isText) => {
      messages.push(`${isText ? 'text' : 'binary'} ${bytes}`)
      arrived()
    },
    taken() {},
    closed: (code, reason) => resolve({ code, reason: reason.toString() }),
  })
  return {
    messages,
    closed: promise,
    next: () =>
      new Promise<void>((done) => {
        arrived = done
      }),
  }
}

/** What everything that speaks WebSocket promises, to upstreams and to clients. */
export const upstreamSocketConforms = (sockets: UpstreamSocket): void => {
  describe(`upstream socket ${sockets.id}`, () => {
    it('sends path and headers as they are, in order, and those of the handshake after them', async () => {
      using there = await server(sockets, (socket) => heard(socket))
      const dialled = await dialTo(sockets, there.address, [
        'host',
        'api.example',
        'X-Odd-Case',
        'a',
        'x-twice',
        '1',
        'x-twice',
        '2',
      ])
      const [request] = there.requests
      assert.equal(request?.url, '/a//b?c=%20d')
      assert.deepEqual(request?.rawHeaders.slice(0, 8), [
        'host',
        'api.example',
        'X-Odd-Case',
        'a',
        'x-twice',
        '1',
        'x-twice',
        '2',
      ])
      assert.equal(request?.headers['sec-websocket-extensions'], undefined)
      assert.equal(dialled.headers[dialled.headers.indexOf('x-said') + 1], 'caf\xc3\xa9')
      dialled.socket?.destroy()
    })

    it('passes messages both ways, and close codes with their reasons', async () => {
      const there = Promise.withResolvers<MessageSocket>()
      using far = await server(sockets, there.resolve)
      const { socket } = await dialTo(sockets, far.address, [], { compress: true })
      assert.ok(socket)
      const near = heard(socket)
      const other = await there.promise
      const distant = heard(other)
      other.send(Buffer.from('{"ä": "🙂"}'))
      await near.next()
      socket.send(Buffer.from('x'.repeat(5_000)))
      await distant.next()
      assert.deepEqual(near.messages, ['text {"ä": "🙂"}'])
      assert.deepEqual(distant.messages, [`text ${'x'.repeat(5_000)}`])
      other.close(4001, Buffer.from('for a reason'))
      assert.deepEqual(await near.closed, { code: 4001, reason: 'for a reason' })
      assert.equal((await distant.closed).code, 4001)
    })

    it('gives a refusal with its status, headers and body', async () => {
      const http = createServer()
      http.on('upgrade', (_request, socket: Duplex) =>
        socket.end('HTTP/1.1 429 Too Many\r\nretry-after: 7\r\ncontent-length: 5\r\n\r\nlater'),
      )
      http.listen(0, '127.0.0.1')
      await once(http, 'listening')
      const { port } = http.address() as AddressInfo
      const refusal = await dialTo(sockets, {
        secure: false,
        hostname: '127.0.0.1',
        port,
        connect_ms: 5_000,
        idle_ms: 5_000,
      })
      assert.ok(refusal.socket === undefined)
      assert.deepEqual([refusal.status, String(refusal.body)], [429, 'later'])
      assert.equal(refusal.headers[refusal.headers.indexOf('retry-after') + 1], '7')
      http.close()
    })

    it('tells by its code why there was no answer', async () => {
      const silent = createServer().on('upgrade', (_request, socket: Duplex) =>
        socket.resume().on('end', () => socket.destroy()),
      )
      silent.listen(0, '127.0.0.1')
      await once(silent, 'listening')
      const { port } = silent.address() as AddressInfo
      const address = { secure: false, hostname: '127.0.0.1', port, connect_ms: 5_000, idle_ms: 5_000 }
      await assert.rejects(dialTo(sockets, address, [], { handshake_ms: 50 }), { code: 'HANDSHAKE_TIMEOUT' })
      silent.close()
      await once(silent, 'close')
      await assert.rejects(dialTo(sockets, address), { code: 'ECONNREFUSED' })
    })

    it('closes with 1009 what is too long, also only once it is inflated', async () => {
      const there = Promise.withResolvers<MessageSocket>()
      using far = await server(sockets, there.resolve, 1_000)
      const { socket } = await dialTo(sockets, far.address)
      assert.ok(socket)
      const near = heard(socket)
      const distant = heard(await there.promise)
      socket.send(Buffer.alloc(1_001, 'x'))
      assert.equal((await distant.closed).code, 1006)
      assert.equal((await near.closed).code, 1009)
      assert.deepEqual(distant.messages, [])
    })
  })
}
