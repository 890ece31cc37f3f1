import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { refusedHandshake, socketClient } from '../../kit/socket-client.ts'
import { socketProvider } from '../../kit/socket-provider.ts'
import { SettledCalls, startEmbedded } from './embedded.ts'
import { startSocketService, until } from './kit.ts'

const errorOf = (message: object) => {
  const { status, error } = message as { status: number; error: { code: string } }
  return [status, error.code]
}

describe('the record of a request', () => {
  it('is there when the message that ends its response arrives', async () => {
    await using service = await startSocketService({ backend: 'sqlite' })
    const client = await service.connect()
    for (let turn = 1; turn <= 20; turn++) {
      client.create(`turn ${turn}`)
      await client.end()
      assert.equal((await service.calls()).length, turn)
    }
  })
})

describe('a key that is revoked', () => {
  it('is an error event, and the connection is closed', async () => {
    await using service = await startSocketService()
    const { json } = await service.gateway.request('POST', '/api/agents', { id: 'worker', issue_key: true })
    const { key } = json as { key: string }
    const client = await socketClient({ url: service.gateway.url, key })
    client.create('one')
    await client.end()
    const { json: keys } = await service.gateway.request('GET', '/api/agents/worker')
    const [{ id = '' } = {}] = (keys as { agent: { keys: { id: string }[] } }).agent.keys
    assert.equal((await service.gateway.request('DELETE', `/api/agents/worker/keys/${id}`)).status, 204)
    client.create('two')
    assert.deepEqual(errorOf(await client.next()), [401, 'UNAUTHORIZED'])
    assert.equal((await client.closed).code, 1008)
    assert.equal(service.provider.creates.length, 1)
    assert.equal((await refusedHandshake({ url: service.gateway.url, key })).status, 401)
  })
})

describe('an upstream that changes', () => {
  it('ends its responses, then the connection with 1012', async () => {
    const entry = { name: 'provider', styles: ['responses'] }
    await using provider = await socketProvider()
    await using gateway = await startEmbedded([{ ...entry, base_url: provider.url }])
    const client = await socketClient(gateway)
    const end = Promise.withResolvers<void>()
    provider.script({ until: end.promise })
    client.create('one')
    assert.equal((await client.next()).type, 'response.created')
    gateway.options.upstreams = [{ ...entry, base_url: provider.url, model_map: { a: 'b' } }]
    client.create('two')
    end.resolve()
    assert.equal((await client.end()).type, 'response.completed')
    assert.equal((await client.closed).code, 1012)
    assert.equal(provider.creates.length, 1)
    const again = await socketClient(gateway)
    again.create('two')
    assert.equal((await again.end()).type, 'response.completed')
    again.socket.terminate()
  })
})

describe('a gateway that stops', () => {
  it('closes idle connections at once, and others after what runs on them', async () => {
    await using service = await startSocketService({ config: 'server: { shutdown_grace_seconds: 5 }' })
    const idle = await service.connect()
    const busy = await service.connect()
    const end = Promise.withResolvers<void>()
    service.provider.script({ until: end.promise })
    busy.create('one')
    await busy.next()
    const closing = service.gateway.close()
    assert.equal((await idle.closed).code, 1001)
    busy.create('two')
    const refused = []
    for (let message = await busy.next(); message.type !== 'response.completed'; message = await busy.next()) {
      if (message.type !== 'error') continue
      refused.push(errorOf(message))
      end.resolve()
    }
    assert.deepEqual(refused, [[503, 'SHUTTING_DOWN']])
    assert.equal((await busy.closed).code, 1001)
    assert.equal(service.provider.creates.length, 1)
    await closing
  })
  it('interrupts what does not end in time, and has it on record', async () => {
    const settled = new SettledCalls()
    await using service = await startSocketService({
      config: 'server: { shutdown_grace_seconds: 0 }',
      plugins: [settled.plugin],
    })
    const client = await service.connect()
    service.provider.script({ stall_at: 1 })
    client.create('one')
    await client.next()
    await service.gateway.close()
    assert.deepEqual(settled.outcomes, ['interrupted'])
    assert.equal((await client.closed).code, 1001)
  })
})

describe('many requests of one connection', () => {
  it('wait up to a limit', async () => {
    await using service = await startSocketService()
    const client = await service.connect()
    const end = Promise.withResolvers<void>()
    service.provider.script({ until: end.promise })
    for (let index = 0; index < 65; index++) client.create(`request ${index}`)
    let refused: object | undefined
    while (refused === undefined) {
      const message = await client.next()
      if (message.type === 'error') refused = message
    }
    assert.deepEqual(errorOf(refused), [503, 'OVERLOADED'])
    end.resolve()
    await until(async () => (await service.calls()).length === 64)
    assert.equal(service.provider.creates.length, 64)
  })
})

describe('200 connections at once', () => {
  it('each get their own messages, in order', async () => {
    await using service = await startSocketService()
    const turns = 3
    const text = Array.from({ length: 20 }, (_, word) => `w${word} `).join('')
    service.provider.script(...Array.from({ length: 200 * turns }, () => ({ text })))
    await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const client = await service.connect({ 'x-guard-session-id': `s${index}` })
        for (let turn = 0; turn < turns; turn++) {
          client.create(`${index}/${turn}`, { model: `m-${index}` })
          const messages = await client.response()
          assert.equal(Reflect.get(messages[0]?.response ?? {}, 'model'), `m-${index}`)
          assert.equal(messages.map(({ delta = '' }) => delta).join(''), text)
        }
      }),
    )
    const { websockets } = (await service.gateway.request('GET', '/api/health')).json as { websockets: object }
    assert.deepEqual(websockets, { connections: 200, refused: {} })
  })
})
