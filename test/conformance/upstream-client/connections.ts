import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { readInto } from 'guard-gateway/core'
import type { UpstreamClient } from '#lib/upstream-client'
import { rawServer } from '../../kit/raw-server.ts'
import { connectTo, hear, send } from '../../kit/upstream-client.ts'

const OK = 'HTTP/1.1 200 OK\r\n'
const TWO = 'content-length: 2\r\n\r\nok'
const BIG = 32_000_000

/** Resolves when the server has seen the end of its connection of this number. */
const closed = async ({ sockets }: Awaited<ReturnType<typeof rawServer>>, at = 0): Promise<void> => {
  const socket = sockets[at]
  if (socket !== undefined && !socket.destroyed) await once(socket, 'close', { signal: AbortSignal.timeout(60_000) })
}

export const keepsConnections = (client: UpstreamClient): void => {
  describe('a connection', () => {
    it('serves a thousand requests, one after another', async () => {
      await using server = await rawServer()
      const connections = connectTo(client, server.port)
      for (let turn = 0; turn < 1_000; turn++) assert.equal((await hear(connections)).body, 'ok')
      assert.deepEqual([server.sockets.length, server.requests.length], [1, 1_000])
      connections.close()
    })
    it('serves one request at a time, and is kept beside others', async () => {
      await using server = await rawServer()
      const connections = connectTo(client, server.port)
      for (let turn = 0; turn < 3; turn++) await Promise.all([hear(connections), hear(connections), hear(connections)])
      assert.equal(server.sockets.length, 3)
      connections.close()
    })
    for (const [name, head, isKept] of [
      ['that its server keeps for a minute is used again', `${OK}keep-alive: timeout=60, max=9\r\n`, true],
      ['that its server is about to close is not', `${OK}Keep-Alive: timeout=1\r\n`, false],
      ['that its server does not keep is not', `${OK}Connection: close\r\n`, false],
      ['of an older HTTP is not', 'HTTP/1.0 200 OK\r\n', false],
      ['of an older HTTP that is kept is', 'HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n', true],
    ] as const)
      it(name, async () => {
        await using server = await rawServer()
        const connections = connectTo(client, server.port)
        server.script(head + TWO)
        assert.equal((await hear(connections)).body, 'ok')
        assert.equal((await hear(connections)).body, 'ok')
        assert.equal(server.sockets.length, isKept ? 1 : 2)
        connections.close()
      })
    for (const [name, more] of [
      ['bytes', 'EXTRA'],
      ['another answer', `${OK}content-length: 6\r\n\r\nforged`],
    ] as const)
      it(`with ${name} behind an answer ends, and the next request gets its own`, async () => {
        await using server = await rawServer()
        const connections = connectTo(client, server.port)
        server.script(OK + TWO + more)
        assert.equal((await hear(connections)).body, 'ok')
        assert.equal((await hear(connections)).body, 'ok')
        assert.equal(server.sockets.length, 2)
        await closed(server)
        connections.close()
      })
    it('that says something before it was asked ends', async () => {
      await using server = await rawServer()
      const connections = connectTo(client, server.port)
      await hear(connections)
      server.sockets[0]?.write(`${OK}content-length: 6\r\n\r\nforged`)
      await closed(server)
      assert.equal((await hear(connections)).body, 'ok')
      assert.equal(server.sockets.length, 2)
      connections.close()
    })
    it('that its server closes is not used again', async () => {
      await using server = await rawServer()
      const connections = connectTo(client, server.port)
      await hear(connections)
      server.sockets[0]?.end()
      await closed(server)
      assert.equal((await hear(connections)).body, 'ok')
      connections.close()
    })
    it('that nobody uses is closed after the time of silence', async () => {
      await using server = await rawServer()
      const connections = connectTo(client, server.port, { idle_ms: 40 })
      await Promise.all([hear(connections), hear(connections)])
      await Promise.all([closed(server), closed(server, 1)])
      assert.equal((await hear(connections)).body, 'ok')
      connections.close()
    })
    it('that was held back is whole again for the next request', async () => {
      await using server = await rawServer()
      const connections = connectTo(client, server.port)
      for (let turn = 0; turn < 3; turn++) {
        server.script(
          (socket) => socket.write(`${OK}content-length: ${BIG / 8}\r\n\r\n`) && socket.write(Buffer.alloc(BIG / 8)),
        )
        assert.equal(await slowly(connections), BIG / 8)
      }
      assert.equal((await hear(connections)).body, 'ok')
      assert.equal(server.sockets.length, 1)
      connections.close()
    })
    it('holds its server back while nobody takes what it says', async () => {
      await using server = await rawServer()
      const connections = connectTo(client, server.port)
      server.script((socket) => socket.write(`${OK}content-length: ${BIG}\r\n\r\n`) && socket.write(Buffer.alloc(BIG)))
      const { body } = await send(connections).response
      assert.ok(!(body instanceof Uint8Array))
      let told = 0
      const { promise, resolve } = Promise.withResolvers<void>()
      const data = (chunk: Uint8Array) => {
        if (told === 0) body.pause()
        told += chunk.length
      }
      readInto(body, { data, end: resolve, cut: assert.fail })
      for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate)
      assert.ok(told < 1_000_000, `${told} bytes were told to a reader that had said to wait`)
      assert.ok((server.sockets[0]?.writableLength ?? 0) > 0)
      body.resume()
      await promise
      assert.equal(told, BIG)
      connections.close()
    })
  })

  describe('connections', () => {
    it('that retire are closed when idle, or when their answers have come', async () => {
      await using server = await rawServer()
      const connections = connectTo(client, server.port)
      await hear(connections)
      const { promise, resolve } = Promise.withResolvers<() => void>()
      server.script((socket) => {
        socket.write(`${OK}content-length: 4\r\n\r\nok`)
        resolve(() => socket.write('ay'))
      })
      const heard = hear(connections)
      await Promise.all([promise, hear(connections)])
      connections.retire()
      await closed(server, 1)
      ;(await promise)()
      assert.equal((await heard).body, 'okay')
      await closed(server)
    })
    it('that are closed break what is under way', async () => {
      await using server = await rawServer()
      const connections = connectTo(client, server.port)
      server.script(`${OK}content-length: 4\r\n\r\nok`)
      const { response, over, counts } = send(connections)
      const { body } = await response
      assert.ok(!(body instanceof Uint8Array))
      const { promise, resolve } = Promise.withResolvers<void>()
      readInto(body, { data: () => {}, end: assert.fail, cut: resolve })
      connections.close()
      await Promise.all([promise, over, closed(server)])
      assert.deepEqual(counts, { answered: 1, failed: 0, over: 1 })
    })
  })
}

/** Takes a body piece by piece and gives its length. */
const slowly = async (connections: ReturnType<typeof connectTo>): Promise<number> => {
  const { body } = await send(connections).response
  assert.ok(!(body instanceof Uint8Array))
  let length = 0
  await new Promise<void>((resolve) => {
    const data = (chunk: Uint8Array) => {
      length += chunk.length
      body.pause()
      setImmediate(() => body.resume())
    }
    readInto(body, { data, end: resolve, cut: assert.fail })
  })
  return length
}
