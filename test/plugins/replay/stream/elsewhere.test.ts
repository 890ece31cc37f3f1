import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
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
})
