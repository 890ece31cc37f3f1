import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Change } from 'guard-gateway/core'
import { Stream } from '../../../../plugins/replay/stream/stream.ts'
import { judgedCall, logOf, startKit } from '../../mcp/audit/records-kit.ts'

describe('decisions of another process', () => {
  it('are sent once, including those of calls', async (test) => {
    const kit = await startKit()
    test.after(() => kit.close())
    const { storage } = kit.gateway
    const log = logOf(kit)
    await judgedCall(kit, { action: 'deny', forwarded: false }, { tool: 'before' }, log)
    kit.clock.advance(5)
    // a separate stream, which gets no notice of writes of the gateway
    const stream = new Stream(kit.gateway)
    test.after(() => stream.end())
    const listener = stream.open('events')
    const heard = () =>
      [...String(listener.read()).matchAll(/"decision":"(\w+)".*"tool":"(\w+)"/g)].map(([, ...words]) => words)
    heard()
    const found = async (trace_id: string) => {
      kit.clock.advance(5)
      await kit.audit.flush()
      const updated_ns = BigInt(kit.clock.now()) * 1_000_000n
      await storage.patch('runs', trace_id, { writer: 'elsewhere:1:1', updated_ns })
      await stream.poll()
      return heard()
    }
    const { entry } = await judgedCall(kit, { action: 'deny', forwarded: false }, { tool: 'refused' }, log)
    assert.deepEqual(await found(entry.trace_id), [['deny', 'refused']])
    const [row] = (await storage.find('mcp_audit', { limit: 1 })).rows
    assert.ok(row)
    const read = {
      id: 'aud_read',
      span_id: 'read',
      tool: 'passed',
      action: 'allow',
      outcome: 'ok',
      traced: true,
    } as const
    await storage.put('mcp_audit', { ...row, ...read, at: kit.clock.now() })
    assert.deepEqual(await found(entry.trace_id), [['allow', 'passed']])
    assert.deepEqual(await found(entry.trace_id), [])
  })

  it('are found although they commit after what changed later, where hosts share the storage', async (test) => {
    const kit = await startKit()
    test.after(() => kit.close())
    const { gateway, clock } = kit
    gateway.service('cluster').provide({
      ...{ instance: 'one', leads: true, changed: NONE, unchanged: NONE },
      refresh: async () => false,
      hasDied: async () => false,
      onChanged: () => {},
      onEnded: () => {},
    })
    const log = logOf(kit)
    const traces: string[] = []
    for (const tool of ['first', 'second'])
      traces.push((await judgedCall(kit, { action: 'deny', forwarded: false }, { tool }, log)).entry.trace_id)
    await kit.audit.flush()
    const stream = new Stream(gateway)
    test.after(() => stream.end())
    const listener = stream.open('runs')
    const heard = () => [...String(listener.read()).matchAll(/"trace_id":"(\w+)"/g)].map(([, id]) => id)
    const now_ns = BigInt(clock.now()) * 1_000_000n
    const written = async (trace_id: string | undefined, updated_ns: bigint) => {
      await gateway.storage.patch('runs', trace_id ?? '', { writer: 'elsewhere:1:1', updated_ns })
      await stream.poll()
      test.mock.timers.tick(250)
      return heard()
    }
    test.mock.timers.enable({ apis: ['setTimeout'] })
    assert.deepEqual(await written(traces[1], now_ns + 2_000_000_000n), [traces[1]])
    assert.deepEqual(await written(traces[0], now_ns + 1_000_000_000n), [traces[0]])
    await stream.poll()
    test.mock.timers.tick(250)
    assert.deepEqual(heard(), [])
  })
})

const NONE: Change = { table: 'generations', key: 'all', patch: {} }
