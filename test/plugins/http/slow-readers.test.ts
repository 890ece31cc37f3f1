import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { describe, it } from 'node:test'

import { chatBody, KEY, type Started, start } from './kit.ts'

const MEGABYTE = 1_048_576
const TOTAL = 64 * MEGABYTE

/** A provider that counts what it could hand over of a reply that is far larger than all buffers on the way. */
const floodingProvider = async () => {
  const counted = { sent: 0, ended: false }
  const chunk = Buffer.alloc(MEGABYTE, 'x')
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${TOTAL}\r\n\r\n`)
      const more = (): void => {
        if (counted.sent === TOTAL) {
          counted.ended = true
          return
        }
        socket.write(chunk, (error) => {
          if (error) return
          counted.sent += chunk.length
          more()
        })
      }
      more()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()))
  return { counted, port, [Symbol.asyncDispose]: close }
}

const ask = (running: Started): Socket => {
  const body = JSON.stringify(chatBody)
  const socket = connect(running.port, '127.0.0.1')
  socket.on('error', () => {})
  socket.pause()
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${KEY}\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  return socket
}

/** Waits until a number no longer grows. */
const still = async (value: () => number): Promise<number> => {
  for (let last = -1; ; ) {
    const now = value()
    if (now === last && now > 0) return now
    last = now
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

describe('a client that does not read', () => {
  it('holds the upstream back, and gets everything when it reads again', async () => {
    await using provider = await floodingProvider()
    const upstreams = () => [
      { name: 'flood', base_url: `http://127.0.0.1:${provider.port}`, styles: ['chat_completions'] },
    ]
    await using running = await start({ upstreams })
    const socket = ask(running)
    const held = await still(() => provider.counted.sent)
    assert.ok(held < TOTAL / 2, `${held} bytes were taken from the upstream`)
    let got = 0
    socket.on('data', (data: Buffer) => {
      got += data.length
    })
    socket.resume()
    await once(socket, 'close')
    assert.ok(got > TOTAL, `${got} bytes`)
    assert.ok(provider.counted.ended)
  })
  it('counts as gone after server.write_idle_seconds', async () => {
    await using provider = await floodingProvider()
    const upstreams = () => [
      { name: 'flood', base_url: `http://127.0.0.1:${provider.port}`, styles: ['chat_completions'] },
    ]
    await using running = await start({ upstreams, server: { write_idle_seconds: 0.1 } })
    const socket = ask(running)
    while (running.settled.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
    assert.equal(running.settled[0]?.outcome, 'client_aborted')
    assert.equal(provider.counted.ended, false)
    socket.destroy()
  })
})
