import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { Plugin } from 'guard-gateway/core'
import { anUpstream } from '../../upstream/kit.ts'
import { ask, start } from '../kit.ts'

/** More than sockets take at once. */
const LARGE = { model: 'm-1', messages: [{ role: 'user', content: 'Hello '.repeat(2_000_000) }] }

/** An upstream by hand; what it got so far. */
const upstreamOf = async (welcome: (socket: Socket, got: Buffer[]) => unknown) => {
  const got: Buffer[] = []
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => {})
    welcome(socket, got)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, got, [Symbol.dispose]: () => void server.close() }
}

/** Answers without reading. */
const refuses = (socket: Socket) => socket.write('HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n')

/** Begins to read late, and answers when it has read all. */
const dawdles = async (socket: Socket, got: Buffer[]) => {
  await setTimeout(100)
  socket.on('data', (chunk: Buffer) => {
    got.push(chunk)
    if (chunk.at(-1) === '}'.charCodeAt(0)) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')
  })
  socket.resume()
}

/** Looks at each body when all others who record its call have. */
const lateReader = (lengths: number[]): Plugin => ({
  name: 'late',
  apply: ({ hooks }) =>
    hooks.settle.tapPromise({ name: 'late', stage: 9_999 }, async ({ call }) => {
      await setTimeout(20)
      lengths.push(call.body.length)
    }),
})

/** Forwards in a way of its own, and may read the body for as long as it likes. */
const answering: Plugin = {
  name: 'answering',
  apply: ({ hooks }) =>
    hooks.forward.tapPromise({ name: 'answering', stage: -100 }, async () => ({
      status: 200,
      headers: ['content-length', '2'],
      body: Buffer.from('{}'),
      upstream: 'own',
      attempts: [],
      upstream_request_id: null,
      on_disconnect: 'abort',
    })),
}

describe('a body that was read in pieces', () => {
  it('goes whole to a slow upstream after another that refused it, is there for who records it, and freed then', async () => {
    using busy = await upstreamOf(refuses)
    using slow = await upstreamOf(dawdles)
    const lengths: number[] = []
    const upstreams = () => [anUpstream('busy', busy.url, { fallback: ['slow'] }), anUpstream('slow', slow.url)]
    await using running = await start({ upstreams, plugins: [lateReader(lengths)] })
    assert.equal((await ask(running.port, { body: LARGE })).status, 200)
    const sent = JSON.stringify(LARGE)
    const received = Buffer.concat(slow.got)
    assert.ok(received.subarray(received.indexOf('\r\n\r\n') + 4).equals(Buffer.from(sent)))
    assert.deepEqual(lengths, [sent.length])
    assert.equal(running.settled[0]?.call.body.length, 0)
  })
  it('stays where a plugin forwards it by itself', async () => {
    await using running = await start({ plugins: [answering] })
    assert.equal((await ask(running.port, { body: LARGE })).status, 200)
    assert.equal(running.settled[0]?.call.body.length, JSON.stringify(LARGE).length)
  })
})
