import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { OnStorageFailure, Plugin, StorageState } from 'guard-gateway/core'
import { rawHttp } from '../../kit/raw-http.ts'
import { answered, ask, begin, chatBody, jsonOf, read, start } from './kit.ts'

const probe = async (port: number, path: string): Promise<readonly [number, unknown]> => {
  const got = await ask(port, { method: 'GET', path, key: null })
  return [got.status, jsonOf(got)]
}

const inState = (state: StorageState, onFailure: OnStorageFailure): Plugin => ({
  name: 'in-state',
  apply: (gateway) =>
    gateway.hooks.open.tap('in-state', () => {
      Object.defineProperty(gateway.storage, 'state', { value: state })
      gateway.service('store').need().onFailure = onFailure
    }),
})

describe('probes', () => {
  it('say that it is up and ready, without a key, by any host, to HEAD and HTTP/1.0, and are not logged', async () => {
    await using running = await start()
    for (const path of ['/livez', '/readyz']) {
      assert.deepEqual(await probe(running.port, path), [200, { status: 'ok' }])
      const headers = { host: '10.42.0.7:8787', origin: 'https://elsewhere.example' }
      assert.equal((await ask(running.port, { method: 'GET', path, key: null, headers })).status, 200)
      for (const request of [`HEAD ${path} HTTP/1.0\r\n\r\n`, `GET ${path} HTTP/1.0\r\n\r\n`])
        assert.equal((await rawHttp(running.port, request)).status, 200)
    }
    assert.doesNotMatch(running.log.join(''), /livez|readyz/)
    assert.equal((await ask(running.port, { path: '/livez', body: {} })).status, 405)
  })

  for (const [state, onFailure, ready] of [
    ['ok', 'refuse', 200],
    ['busy', 'refuse', 200],
    ['full', 'refuse', 503],
    ['failing', 'refuse', 503],
    ['failing', 'forward', 200],
  ] as const) {
    it(`answer ${ready} for ${state} storage that is to ${onFailure}; it is up all the same`, async () => {
      await using running = await start({ plugins: [inState(state, onFailure)] })
      const status = ready === 200 ? 'ok' : 'unavailable'
      assert.deepEqual(await probe(running.port, '/readyz'), [ready, { status }])
      assert.deepEqual(await probe(running.port, '/livez'), [200, { status: 'ok' }])
    })
  }

  it('say on an open connection that it stops, while a last reply goes on', async () => {
    await using running = await start()
    running.provider.script({ stall_at: 100 })
    const last = await answered(begin(running.port, { body: { ...chatBody, stream: true } }))
    const { Agent, get } = await import('node:http')
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const readyz = () =>
      new Promise<number | undefined>((resolve, reject) => {
        const options = { port: running.port, host: '127.0.0.1', path: '/readyz', agent }
        get(options, (response) => response.resume().on('end', () => resolve(response.statusCode))).on('error', reject)
      })
    assert.equal(await readyz(), 200)
    running.gateway.service('http').need().draining = true
    assert.equal(await readyz(), 503)
    agent.destroy()
    last.destroy()
    await read(last)
  })
})
