import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GuardError, storage } from 'guard-gateway/core'
import { decisionOf, startService } from 'guard-gateway/test'
import { sharedMemory } from '../../kit/shared-memory.ts'

const PATH = '/v1/chat/completions'
const chat = (text: string) => ({ model: 'm-1', messages: [{ role: 'user', content: text }] })
const headers = { 'x-guard-session-id': 'mine' }

describe('a decision that may not be on record', () => {
  it('is not counted, once the storage answers again', async () => {
    const shared = sharedMemory()
    let isAway = false
    const backend = storage({
      id: 'sometimes-away',
      open: async (tables) => {
        const driver = await shared.open(tables)
        return {
          ...driver,
          write: async (batch, options) => {
            if (isAway) throw new GuardError('STORAGE_UNAVAILABLE')
            return driver.write(batch, options)
          },
        }
      },
    })
    await using service = await startService({ plugins: [backend], backend: backend.id })
    const rules = [{ id: 'most', rule_type: 'max_requests', action: 'block', threshold: 2 }]
    await service.policy({ mode: 'enforce', rules })
    const ask = async (text: string) => decisionOf(await service.request('POST', PATH, chat(text), headers))
    assert.equal((await ask('one')).decision, 'allow')
    isAway = true
    for (const text of ['two', 'three', 'four']) assert.equal((await ask(text)).status, 503)
    isAway = false
    assert.equal((await ask('five')).decision, 'allow')
    assert.equal((await ask('six')).reason, 'LIMIT_REQUESTS')
    const { requests, blocked } = await service.session('mine')
    assert.deepEqual([requests, blocked], [2, 1])
  })
})
