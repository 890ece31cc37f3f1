import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { type ReplyBody, readInto } from 'guard-gateway/core'
import type { UpstreamClient } from '#lib/upstream-client'
import { type RawServer, rawServer } from '../../kit/raw-server.ts'
import { refusingPort } from '../../kit/refusing-port.ts'
import { connectTo, hear, readBody, send } from '../../kit/upstream-client.ts'

const FOUR = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n'
const ENDLESS = 'HTTP/1.1 200 OK\r\n\r\n'

export const endsExchanges = (client: UpstreamClient): void => {
  describe('a request without an answer', () => {
    for (const [name, ending, code] of [
      ['because its connection is reset', (socket: Socket) => socket.resetAndDestroy(), 'ECONNRESET'],
      ['because its server says no more', (socket: Socket) => socket.end(), 'ECONNRESET'],
    ] as const)
      it(`${name} fails once, and is not sent again`, async () => {
        await using server = await rawServer()
        const connections = connectTo(client, server.port)
        await hear(connections)
        server.script(ending)
        const asked = send(connections)
        await assert.rejects(asked.response, { code })
        await asked.over
        assert.deepEqual(asked.counts, { answered: 0, failed: 1, over: 1 })
        assert.equal(server.requests.length, 2)
        connections.close()
      })
    it('because nothing listens fails', async () => {
      await using refusing = await refusingPort()
      const connections = connectTo(client, refusing.port)
      assert.deepEqual(await hear(connections), { failed: 'ECONNREFUSED' })
    })
    it('because no connection is made in time fails', async () => {
      await using server = await rawServer()
      // it takes the connection, but never says a word of TLS
      const connections = connectTo(client, server.port, { secure: true, connect_ms: 40 })
      const asked = send(connections)
      await assert.rejects(asked.response, { code: 'CONNECT_TIMEOUT', message: 'no connection within 40 ms' })
      connections.close()
    })
    it('because it was stopped fails with the reason, its connection is closed, and stopping again is harmless', async () => {
      await using server = await rawServer()
      const connections = connectTo(client, server.port)
      const arrived = new Promise<Socket>((resolve) => server.script(resolve))
      const asked = send(connections)
      const socket = await arrived
      const reason = new Error('no longer')
      asked.exchange.stop(reason)
      asked.exchange.stop(new Error('once more'))
      await assert.rejects(asked.response, reason)
      await Promise.all([asked.over, socket.destroyed || once(socket, 'close')])
      asked.exchange.stop(new Error('and again'))
      assert.deepEqual(asked.counts, { answered: 0, failed: 1, over: 1 })
      connections.close()
    })
    it('may be stopped before its connection is made', async () => {
      await using server = await rawServer()
      const connections = connectTo(client, server.port)
      const asked = send(connections)
      asked.exchange.stop(new Error('at once'))
      await assert.rejects(asked.response, /at once/)
      await asked.over
      assert.equal((await hear(connections)).body, 'ok')
      connections.close()
    })
  })

  describe('a body', () => {
    for (const [name, head, ending] of [
      ['whose connection is reset', FOUR, (socket: Socket) => socket.resetAndDestroy()],
      ['of no length whose connection is reset', ENDLESS, (socket: Socket) => socket.resetAndDestroy()],
      ['whose server says no more', FOUR, (socket: Socket) => socket.end()],
    ] as const)
      it(`${name} is cut, also for one who reads it later`, async () => {
        await using server = await rawServer()
        const connections = connectTo(client, server.port)
        for (const isLate of [false, true]) {
          server.script(`${head}ok`)
          const asked = send(connections)
          const ended = await endedBy(ending, server, (await asked.response).body, isLate)
          assert.equal(ended, 'cut')
          await asked.over
          assert.equal(asked.counts.over, 1)
        }
        connections.close()
      })
    it('that is given up closes its connection; more endings are harmless', async () => {
      await using server = await rawServer()
      const connections = connectTo(client, server.port)
      server.script((socket) => socket.write(`${FOUR}ok`))
      const asked = send(connections)
      const { body } = await asked.response
      assert.ok(!(body instanceof Uint8Array))
      body.destroy()
      body.destroy()
      asked.exchange.stop(new Error('late'))
      await asked.over
      const [socket] = server.sockets
      assert.ok(socket)
      if (!socket.destroyed) await once(socket, 'close')
      assert.deepEqual(asked.counts, { answered: 1, failed: 0, over: 1 })
      assert.equal((await hear(connections)).body, 'ok')
      connections.close()
    })
    it('that has ended is not touched by more endings, nor is its connection', async () => {
      await using server = await rawServer()
      const connections = connectTo(client, server.port)
      const asked = send(connections)
      const { body } = await asked.response
      assert.equal((await readBody(body)).ended, 'whole')
      await asked.over
      asked.exchange.stop(new Error('late'))
      if (!(body instanceof Uint8Array)) body.destroy()
      assert.equal((await hear(connections)).body, 'ok')
      assert.equal(server.sockets.length, 1)
      assert.deepEqual(asked.counts, { answered: 1, failed: 0, over: 1 })
      connections.close()
    })
    it('of which nothing more comes is cut after the time of silence', async () => {
      await using server = await rawServer()
      const connections = connectTo(client, server.port, { idle_ms: 40 })
      server.script(`${FOUR}ok`)
      const { headers, ...heard } = await hear(connections)
      assert.deepEqual(heard, { status: 200, body: 'ok', ended: 'cut' })
      connections.close()
    })
    it('that its reader holds back is not silent', async () => {
      await using server = await rawServer()
      const connections = connectTo(client, server.port)
      server.script(`${FOUR}ok`)
      const outgoing = nextConnection()
      const { body } = await send(connections).response
      assert.ok(!(body instanceof Uint8Array))
      const held = Promise.withResolvers<void>()
      const ended = Promise.withResolvers<void>()
      let text = ''
      const data = (chunk: Uint8Array) => {
        text += Buffer.from(chunk).toString()
        if (text !== 'ok') return
        body.pause()
        held.resolve()
      }
      readInto(body, { data, end: ended.resolve, cut: () => ended.reject(new Error('cut')) })
      await held.promise
      const socket = await outgoing
      // as if the time of silence had passed, twice
      socket.emit('timeout')
      socket.emit('timeout')
      server.sockets[0]?.write('ay')
      body.resume()
      await ended.promise
      assert.equal(text, 'okay')
      connections.close()
    })
  })
}

/** The next connection that this process opens. */
const nextConnection = (): Promise<Socket> =>
  new Promise((resolve) => {
    const opened = (message: unknown) => {
      unsubscribe('net.client.socket', opened)
      resolve((message as { readonly socket: Socket }).socket)
    }
    subscribe('net.client.socket', opened)
  })

/** How a body ends whose server does this within it, for one who reads it at once or only then. */
const endedBy = async (
  ending: (socket: Socket) => unknown,
  { sockets }: RawServer,
  body: ReplyBody,
  isLate: boolean,
): Promise<string> => {
  const socket = sockets.at(-1)
  assert.ok(socket)
  const early = isLate ? undefined : readBody(body)
  ending(socket)
  await once(socket, 'close')
  return (await (early ?? readBody(body))).ended
}
