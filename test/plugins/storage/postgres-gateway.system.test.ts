import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cleanUpPostgres, needsPostgres, newDatabase } from '../../kit/postgres.ts'
import { startService } from '../../kit/service.ts'

const body = { model: 'm-1', messages: [{ role: 'user', content: 'Hello\u0000 there' }] }

describe('a gateway on postgres', needsPostgres, () => {
  cleanUpPostgres()
  it('keeps its sessions there, and finds them at the next start', async () => {
    const storage = `url: "${await newDatabase()}"`
    for (const requests of [1, 2]) {
      await using service = await startService({ backend: 'postgres', storage })
      const answer = await service.request('POST', '/v1/chat/completions', body, { 'x-guard-session-id': 'mine' })
      assert.equal(answer.status, 200, answer.text)
      assert.equal((await service.session('mine')).requests, requests)
      const health = await service.request('GET', '/api/health')
      assert.equal((health.json as { storage: { status: string } }).storage.status, 'ok')
      assert.doesNotMatch(service.gateway.logText() + health.text, /p@ss|p%40ss/)
    }
  })
  it('is used by two gateways at once, which see each other’s sessions', async () => {
    const storage = `url: "${await newDatabase()}"`
    const [one, other] = await Promise.all([
      startService({ backend: 'postgres', storage }),
      startService({ backend: 'postgres', storage }),
    ])
    try {
      await one.request('POST', '/v1/chat/completions', body, { 'x-guard-session-id': 'shared' })
      assert.equal((await other.session('shared')).requests, 1)
    } finally {
      await one[Symbol.asyncDispose]()
      await other[Symbol.asyncDispose]()
    }
  })
})
