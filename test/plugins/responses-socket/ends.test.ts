import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startSocketService, until } from './kit.ts'

const outcomes = async (service: Awaited<ReturnType<typeof startSocketService>>) =>
  (await service.calls()).map(({ outcome }) => outcome)

describe('a WebSocket whose upstream ends it', () => {
  for (const [code, reason] of [
    [1000, ''],
    [1001, 'gone'],
    [1008, 'no'],
    [1009, 'long'],
    [1011, 'keepalive ping timeout'],
    [1012, ''],
    [4000, 'own'],
  ] as const)
    it(`with ${code} gets the same code and reason after all messages, and what was open is truncated`, async () => {
      await using service = await startSocketService()
      const client = await service.connect()
      service.provider.script({ close_at: 2, close: { code, reason } })
      client.create('Hello')
      assert.equal((await client.next()).type, 'response.created')
      assert.equal((await client.next()).type, 'response.output_text.delta')
      assert.deepEqual(await client.closed, { code, reason })
      assert.deepEqual(await outcomes(service), ['truncated'])
    })
  it('without a code gets none', async () => {
    await using service = await startSocketService()
    const client = await service.connect()
    service.provider.last.socket.close()
    assert.deepEqual(await client.closed, { code: 1005, reason: '' })
  })
  it('without a close frame is broken off', async () => {
    await using service = await startSocketService()
    const client = await service.connect()
    service.provider.script({ cut_at: 2 })
    client.create('Hello')
    assert.equal((await client.closed).code, 1006)
    assert.deepEqual(await outcomes(service), ['truncated'])
  })
  it('by silence in mid-response is broken off', async () => {
    await using service = await startSocketService({ upstream: 'timeouts: { idle_ms: 60 }' })
    const client = await service.connect()
    // no response is under way: it may be silent as long as it likes
    await new Promise((resolve) => setTimeout(resolve, 120))
    service.provider.script({ stall_at: 1 })
    client.create('Hello')
    assert.equal((await client.next()).type, 'response.created')
    assert.equal((await client.closed).code, 1006)
    assert.deepEqual(await outcomes(service), ['truncated'])
  })
})

describe('a WebSocket whose client ends it', () => {
  for (const code of [1000, 1001, 4321])
    it(`with ${code} is closed so at the upstream at once`, async () => {
      await using service = await startSocketService()
      const client = await service.connect()
      service.provider.script({ stall_at: 1 })
      client.create('Hello')
      await client.next()
      client.socket.close(code, 'enough')
      assert.deepEqual(await service.provider.last.closed, { code, reason: 'enough' })
      await until(async () => (await outcomes(service)).includes('client_aborted'))
    })
  it('without a word is closed with 1001 at the upstream', async () => {
    await using service = await startSocketService()
    const client = await service.connect()
    service.provider.script({ stall_at: 2 })
    client.create('Hello')
    await client.next()
    client.socket.terminate()
    assert.equal((await service.provider.last.closed).code, 1001)
    await until(async () => (await outcomes(service)).includes('client_aborted'))
  })
  it('is read to the end where the upstream is drained', async () => {
    await using service = await startSocketService({ upstream: 'on_disconnect: drain' })
    const client = await service.connect()
    const end = Promise.withResolvers<void>()
    service.provider.script({ until: end.promise })
    client.create('Hello')
    await client.next()
    client.socket.terminate()
    await client.closed
    end.resolve()
    assert.equal((await service.provider.last.closed).code, 1001)
    const [call] = await service.calls()
    assert.equal(call?.total_tokens, 25)
  })
})

describe('both ends', () => {
  it('are asked for a sign of life, and a silent one is cut off', async () => {
    const { responsesSocket } = await import('guard-gateway/plugins/responses-socket')
    const { SignsOfLife } = await import('../../../plugins/responses-socket/connection.ts')
    assert.equal(responsesSocket().name, 'responses-socket')
    const did: string[] = []
    const socket = { received: 1, ping: () => did.push('ping'), destroy: () => did.push('destroy') }
    const life = new SignsOfLife(socket as never)
    life.ask()
    socket.received = 2
    life.ask()
    life.ask()
    life.note()
    life.ask()
    assert.deepEqual(did, ['ping', 'ping', 'ping', 'ping'])
    life.ask()
    assert.deepEqual(did.at(-1), 'destroy')
  })
  it('have their own pings answered with the same payload', async () => {
    await using service = await startSocketService()
    const client = await service.connect()
    const pong = new Promise((resolve) => client.socket.once('pong', resolve))
    client.socket.ping('abc')
    assert.equal(String(await pong), 'abc')
    const { socket } = service.provider.last
    const above = new Promise((resolve) => socket.once('pong', resolve))
    socket.ping('xyz')
    assert.equal(String(await above), 'xyz')
  })
})
