import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { refusedHandshake, socketClient } from '../../kit/socket-client.ts'
import { socketProvider } from '../../kit/socket-provider.ts'
import { startEmbedded } from './embedded.ts'
import { startSocketService, until } from './kit.ts'

const MIB = 1024 * 1024

describe('an upstream that hangs', () => {
  it('before it answers the handshake is given up with 504', async () => {
    await using provider = await socketProvider()
    provider.handshake({ silent: true })
    await using gateway = await startEmbedded([{ name: 'up', base_url: provider.url, styles: ['responses'] }], {
      handshake_ms: 60,
    })
    const refused = await refusedHandshake(gateway)
    assert.equal(refused.status, 504)
    assert.match(refused.text, /UPSTREAM_TIMEOUT.*did not answer in time/)
  })
  it('without a word or a pong is cut off, and so is its client', async () => {
    await using provider = await socketProvider({ autoPong: false } as object)
    await using gateway = await startEmbedded([{ name: 'up', base_url: provider.url, styles: ['responses'] }], {
      beat_ms: 20,
    })
    const client = await socketClient(gateway)
    assert.equal((await client.closed).code, 1006)
    assert.equal((await provider.last.closed).code, 1006)
    assert.ok(provider.last.pings.length >= 2)
  })
})

describe('a client that hangs', () => {
  it('without a word or a pong is cut off, and the upstream is closed', async () => {
    await using provider = await socketProvider()
    await using gateway = await startEmbedded([{ name: 'up', base_url: provider.url, styles: ['responses'] }], {
      beat_ms: 20,
    })
    const client = await socketClient(gateway, {}, { autoPong: false })
    assert.equal((await provider.last.closed).code, 1001)
    assert.equal((await client.closed).code, 1006)
  })
  it('and does not read holds its upstream back, and gets all of it in the end', async () => {
    await using service = await startSocketService()
    const client = await service.connect()
    const big = Array.from({ length: 60 }, (_, index) => ({ type: 'x', index, data: 'x'.repeat(MIB) }))
    const created = { type: 'response.created', response: { id: 'r' } }
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
    const completed = { type: 'response.completed', response: { id: 'r', usage } }
    service.provider.script({ messages: [created, ...big, completed] })
    client.create('Much')
    await client.next()
    client.socket.pause()
    const { socket } = service.provider.last
    let before = -1
    // until nothing more is taken
    await until(async () => {
      const left = socket.bufferedAmount
      const isStill = left === before && left > 0
      before = left
      await new Promise((resolve) => setTimeout(resolve, 100))
      return isStill
    })
    assert.ok(socket.bufferedAmount > 20 * MIB, `${socket.bufferedAmount} bytes wait at the upstream`)
    client.socket.resume()
    for (const { index } of big) assert.equal((await client.next()).index, index)
    assert.equal((await client.next()).type, 'response.completed')
    const [call] = await service.calls()
    assert.equal(call?.outcome, 'ok')
  })
  it('and sends more than its upstream takes is held back itself', async () => {
    await using service = await startSocketService()
    const client = await service.connect()
    const upstream = service.provider.last.socket
    upstream.pause()
    for (let index = 0; index < 60; index++) client.send({ type: 'x', index, data: 'x'.repeat(MIB) })
    let before = -1
    await until(async () => {
      const left = client.socket.bufferedAmount
      const isStill = left === before && left > 0
      before = left
      await new Promise((resolve) => setTimeout(resolve, 100))
      return isStill
    })
    assert.ok(client.socket.bufferedAmount > 20 * MIB, `${client.socket.bufferedAmount} bytes wait at the client`)
    upstream.resume()
    await until(() => service.provider.last.received.length === 60)
    const indices = service.provider.last.received.map((bytes) => Reflect.get(JSON.parse(String(bytes)), 'index'))
    assert.deepEqual(
      indices,
      Array.from({ length: 60 }, (_, index) => index),
    )
  })
})
