import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Storage } from 'guard-gateway/core'
import { type McpAnswer, startMcp } from '../../kit/mcp.ts'
import { beginEvents } from '../../kit/mcp-upstream.ts'

const SHADOW = 'version: 1\nmode: shadow\ndefault: allow\nrules: []\n'

/** Lets writes of the audit wait until `release`, or fail. */
const holdAudit = (storage: Storage) => {
  const { write } = storage
  const gate = Promise.withResolvers<void>()
  gate.promise.catch(() => {})
  storage.write = async (batch, options) => {
    if (batch.some(({ table }) => table === 'mcp_audit')) await gate.promise
    return write(batch, options)
  }
  return { release: () => gate.resolve(), fail: () => gate.reject(new Error('no room')) }
}

/** Whether a promise has settled by the time that everything which can go on has gone on. */
const isSettled = async (promise: Promise<unknown>): Promise<boolean> => {
  const none = Symbol('none')
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  return (await Promise.race([promise, Promise.resolve(none)])) !== none
}

describe('a call and its record', () => {
  for (const form of ['json', 'sse'] as const)
    it(`go on at the same time, and the answer waits for the record, as ${form}`, async () => {
      await using service = await startMcp()
      const client = await service.session()
      if (form === 'sse')
        service.upstream.answering = ({ message }, response) => {
          if (message?.method !== 'tools/call') return false
          const json = JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { content: [] } })
          beginEvents(response).end(`data: ${json}\n\n`)
          return true
        }
      const { storage } = service.gateway.gateway
      const audit = holdAudit(storage)
      const answer = client.call('read_file', { path: 'a' }).then(({ text }: McpAnswer) => text)
      await service.upstream.until('tools/call')
      assert.equal(await isSettled(answer), false)
      assert.deepEqual((await storage.find('mcp_audit', { where: { kind: 'decision' } })).rows, [])
      audit.release()
      assert.match(await answer, /"result"/)
      const { rows } = await storage.find('mcp_audit', { where: { kind: 'decision' } })
      assert.deepEqual(
        rows.map(({ tool, forwarded }) => [tool, forwarded]),
        [['read_file', true]],
      )
    })

  it('are not begun while nothing can be recorded', async () => {
    await using service = await startMcp()
    const client = await service.session()
    const { storage } = service.gateway.gateway
    Object.defineProperty(storage, 'state', { get: () => 'failing', configurable: true })
    const { status, json } = await client.call('read_file', { path: 'a' })
    assert.deepEqual([status, json?.error?.data?.code], [503, 'STORAGE_UNAVAILABLE'])
    assert.equal(service.upstream.calls('tools/call').length, 0)
  })

  it('give no result if the record fails, which the client is told', async () => {
    await using service = await startMcp()
    const client = await service.session()
    holdAudit(service.gateway.gateway.storage).fail()
    const { json } = await client.call('read_file', { path: 'a' })
    assert.deepEqual([json?.result, json?.error?.code], [undefined, -32603])
    assert.match(json?.error?.message ?? '', /was forwarded, but cannot be recorded/)
  })

  it('give the result all the same in shadow mode where that was chosen', async () => {
    await using service = await startMcp({ policy: SHADOW })
    Object.assign(service.gateway.gateway, { onStorageFailure: 'forward' })
    const client = await service.session()
    holdAudit(service.gateway.gateway.storage).fail()
    assert.ok((await client.call('read_file', { path: 'a' })).json?.result)
  })

  it('are on record before there is an answer, so that a death in between leaves the decision', async () => {
    await using service = await startMcp()
    const client = await service.session()
    const { storage } = service.gateway.gateway
    const { write } = storage
    const recorded = Promise.withResolvers<void>()
    storage.write = async (batch, options) => {
      const done = await write(batch, options)
      if (batch.some(({ table }) => table === 'mcp_audit')) recorded.resolve()
      return done
    }
    const held = Promise.withResolvers<boolean>()
    service.upstream.answering = ({ message }) => (message?.method === 'tools/call' ? held.promise : false)
    const answer = client.call('read_file', { path: 'a' })
    await recorded.promise
    const [row] = (await storage.find('mcp_audit', { where: { kind: 'decision' } })).rows
    assert.deepEqual([row?.forwarded, row?.outcome], [true, null])
    held.resolve(false)
    assert.ok((await answer).json?.result)
  })
})
