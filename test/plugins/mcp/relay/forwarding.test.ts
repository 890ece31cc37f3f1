import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Storage } from 'guard-gateway/core'
import { startMcp } from '../../../kit/mcp.ts'

const SHADOW = 'version: 1\nmode: shadow\ndefault: allow\nrules: []\n'

/** Lets writes of the audit wait until `release`, or fail. */
const holdAudit = (storage: Storage) => {
  const { write } = storage
  const gate = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  gate.promise.catch(() => {})
  storage.write = async (batch, options) => {
    if (batch.some(({ table }) => table === 'mcp_audit')) {
      asked.resolve()
      await gate.promise
    }
    return write(batch, options)
  }
  return { asked: asked.promise, release: () => gate.resolve(), fail: () => gate.reject(new Error('no room')) }
}

/** Whether a promise has settled by the time that everything which can continue has continued. */
const isSettled = async (promise: Promise<unknown>): Promise<boolean> => {
  const none = Symbol('none')
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  return (await Promise.race([promise, Promise.resolve(none)])) !== none
}

describe('a call and its record', () => {
  it('continue one after the other: the server is asked once the decision is durable', async () => {
    await using service = await startMcp()
    const client = await service.session()
    const { storage } = service.gateway.gateway
    const audit = holdAudit(storage)
    const answer = client.call('read_file', { path: 'a' })
    await audit.asked
    assert.equal(await isSettled(answer), false)
    assert.equal(service.upstream.calls('tools/call').length, 0)
    audit.release()
    assert.ok((await answer).json?.result)
    const { rows } = await storage.find('mcp_audit', { where: { kind: 'decision' } })
    assert.deepEqual(
      rows.map(({ tool, forwarded }) => [tool, forwarded]),
      [['read_file', true]],
    )
  })

  it('are not started while nothing can be recorded', async () => {
    await using service = await startMcp()
    const client = await service.session()
    const { storage } = service.gateway.gateway
    Object.defineProperty(storage, 'state', { get: () => 'failing', configurable: true })
    const { status, json } = await client.call('read_file', { path: 'a' })
    assert.deepEqual([status, json?.error?.data?.code], [503, 'STORAGE_UNAVAILABLE'])
    assert.equal(service.upstream.calls('tools/call').length, 0)
  })

  it('end there if the record fails, which the client is told', async () => {
    await using service = await startMcp()
    const client = await service.session()
    holdAudit(service.gateway.gateway.storage).fail()
    const { status, json } = await client.call('read_file', { path: 'a' })
    assert.deepEqual([status, json?.result, json?.error?.code], [503, undefined, -32603])
    assert.match(json?.error?.message ?? '', /cannot be recorded, so it is not forwarded/)
    assert.equal(service.upstream.calls('tools/call').length, 0)
  })

  it('give the result all the same in shadow mode where that was chosen', async () => {
    await using service = await startMcp({ policy: SHADOW })
    service.gateway.gateway.service('store').need().onFailure = 'forward'
    const client = await service.session()
    holdAudit(service.gateway.gateway.storage).fail()
    assert.ok((await client.call('read_file', { path: 'a' })).json?.result)
  })

  it('are on record while the server works, so that a death in between leaves the decision', async () => {
    await using service = await startMcp()
    const client = await service.session()
    const { storage } = service.gateway.gateway
    const held = Promise.withResolvers<boolean>()
    const asked = Promise.withResolvers<void>()
    service.upstream.answering = ({ message }) => {
      if (message?.method !== 'tools/call') return false
      asked.resolve()
      return held.promise
    }
    const answer = client.call('read_file', { path: 'a' })
    await asked.promise
    const [row] = (await storage.find('mcp_audit', { where: { kind: 'decision' } })).rows
    assert.deepEqual([row?.forwarded, row?.outcome], [true, null])
    held.resolve(false)
    assert.ok((await answer).json?.result)
  })
})
