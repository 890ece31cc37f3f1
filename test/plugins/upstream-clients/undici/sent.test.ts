import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { undici } from 'guard-gateway/plugins/upstream-clients/undici'
import { detachBuffer } from '#lib/request-reader'
import { connectTo } from '../../../kit/upstream-client.ts'

/** More than all buffers on the way take. */
const SIZE = 32 * 1024 * 1024

/** Sends a large body to a server that does not read, and frees it once it is told to be sent. */
const sending = async () => {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connections = connectTo(undici, (server.address() as AddressInfo).port)
  const body = Buffer.allocUnsafeSlow(SIZE).fill('0123456789')
  const sent = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const told = { sent: 0 }
  const headers = ['host', 'upstream.test', 'content-length', String(SIZE)]
  const exchange = connections.send(
    { method: 'POST', path: '/', headers, body },
    {
      answered: () => {},
      failed: () => {},
      over: over.resolve,
      sent: () => {
        told.sent++
        detachBuffer(body)
        sent.resolve()
      },
    },
  )
  const [socket] = (await once(server, 'connection')) as [Socket]
  for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate)
  const head = `POST / HTTP/1.1\r\nhost: upstream.test\r\ncontent-length: ${SIZE}\r\nConnection: keep-alive\r\n\r\n`
  const close = () => {
    connections.close()
    socket.destroy()
    server.close()
  }
  return { socket, head, exchange, told, sent: sent.promise, over: over.promise, [Symbol.dispose]: close }
}

describe('the client of undici', () => {
  it('says that a body is sent when a server that reads slowly has got it all', async () => {
    using slow = await sending()
    assert.equal(slow.told.sent, 0)
    const got: Buffer[] = []
    let length = 0
    const whole = Promise.withResolvers<void>()
    slow.socket.on('data', (chunk: Buffer) => {
      got.push(chunk)
      length += chunk.length
      if (length === SIZE + slow.head.length) whole.resolve()
    })
    slow.socket.resume()
    await Promise.all([slow.sent, whole.promise])
    assert.ok(Buffer.concat(got).subarray(slow.head.length).equals(Buffer.alloc(SIZE, '0123456789')))
    assert.equal(slow.told.sent, 1)
  })
  it('says so of a body whose rest will never go out, behind the end of its connection', async () => {
    using slow = await sending()
    slow.exchange.stop(new Error('enough'))
    assert.equal(slow.told.sent, 0)
    await slow.over
    await slow.sent
    assert.equal(slow.told.sent, 1)
  })
})
