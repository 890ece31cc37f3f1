import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Change } from 'guard-gateway/core'
import type { CallFacts, Entry, Judgement, SessionLog } from '../../../../plugins/mcp/audit/index.ts'
import { partMetrics } from '../../../../plugins/metrics/parts.ts'
import { exposition } from '../../../../plugins/metrics/samples.ts'
import { readTrace } from '../../../../plugins/replay/read/run.ts'
import { factsOf, judgementOf, type Kit, logOf, recordsOf, spansOf, startKit, withFolder } from './records-kit.ts'

let kit: Kit
let log: SessionLog
let batches: (readonly Change[])[]

const start = async (folder?: string): Promise<void> => {
  kit = await startKit(folder === undefined ? {} : { folder })
  log = logOf(kit)
  batches = []
  const { storage } = kit.gateway
  const { write } = storage
  storage.write = (batch, options) => {
    batches.push(batch)
    return write(batch, options)
  }
}

const pass = async (judgement: Partial<Judgement> = {}, facts: Partial<CallFacts> = {}): Promise<Entry> => {
  const entry = await log.begin()
  await log.pass(entry, factsOf(kit, { path: 'a' }, facts), judgementOf(judgement))
  return entry
}
/** A call that takes 5 ms by the clock. */
const call = async (judgement: Partial<Judgement> = {}, outcome: 'ok' | 'tool_error' = 'ok'): Promise<Entry> => {
  const entry = await pass(judgement)
  kit.clock.advance(5)
  await log.ended(entry, outcome, 12)
  return entry
}
const written = (): readonly string[] => batches.splice(0).flatMap((batch) => batch.map(({ table }) => table))

describe('a call that is forwarded', () => {
  beforeEach(() => start())
  afterEach(async () => {
    assert.deepEqual(kit.faults, [])
    await kit.close()
  })

  it('is one row if it ends soon and says nothing new of its run, and is read as its span and event', async () => {
    const first = await call()
    written()
    const second = await call()
    assert.deepEqual(written(), ['mcp_audit'])
    const spans = await spansOf(kit, first.trace_id, 'tool.call')
    assert.deepEqual(
      spans.map(({ id, status, owner, label }) => [id, status, owner, label]),
      [first, second].map(({ span_id }) => [span_id, 'ok', 'mcp', 'write_file']),
    )
    const [told, read] = spans
    assert.deepEqual(read?.attributes, told?.attributes)
    assert.deepEqual(read?.events[0]?.attributes, told?.events[0]?.attributes)
    assert.equal((read?.end_ns ?? 0n) - (read?.start_ns ?? 0n), 5_000_000n)
    const { run } = await readTrace(kit.gateway.storage, first.trace_id)
    assert.deepEqual([run.span_count, run.event_count, run.status, run.end_ns], [3, 2, 'ok', read?.end_ns])
  })

  it('tells its run of what is new: another tool, an error, a rule', async () => {
    await call()
    await call()
    for (const [judgement, outcome] of [
      [{ rule_ids: ['other-rule'] }, 'ok'],
      [{}, 'tool_error'],
      [{ action: 'shadow_deny' }, 'ok'],
    ] as const) {
      written()
      await call(judgement, outcome)
      assert.ok(written().includes('spans'), JSON.stringify([judgement, outcome]))
    }
    const [row] = (await kit.gateway.storage.find('runs', { search: ['tool_error'] })).rows
    assert.equal(row?.span_count, 6)
  })

  it('is on record while it runs, and is shown so', async () => {
    const first = await call()
    const running = await pass()
    await kit.audit.flush()
    const [before] = (await kit.gateway.storage.find('mcp_audit', { where: { id: running.id } })).rows
    assert.deepEqual([before?.forwarded, before?.outcome], [true, null])
    assert.equal((await readTrace(kit.gateway.storage, first.trace_id)).run.status, 'running')
    kit.clock.advance(250)
    await log.ended(running, 'timeout')
    const after = (await recordsOf(kit)).at(-1)
    assert.deepEqual([after?.outcome, after?.duration_ms], ['timeout', 250])
    assert.deepEqual(
      (await spansOf(kit, first.trace_id, 'tool.call')).map(({ status }) => status),
      ['ok', 'timeout'],
    )
  })

  it('continues once its decision is durable, and not before', async () => {
    const { storage } = kit.gateway
    const { write } = storage
    const asked = Promise.withResolvers<void>()
    const durable = Promise.withResolvers<void>()
    storage.write = async (batch, options) => {
      asked.resolve()
      await durable.promise
      return write(batch, options)
    }
    let goesOn = false
    const entry = pass().then((passed) => {
      goesOn = true
      return passed
    })
    await asked.promise
    await new Promise(setImmediate)
    assert.equal(goesOn, false)
    storage.write = write
    durable.resolve()
    const { id } = await entry
    const [row] = (await storage.find('mcp_audit', { where: { id } })).rows
    assert.deepEqual([row?.forwarded, row?.outcome], [true, null])
  })

  it('is counted, however it is recorded', async () => {
    const metrics = partMetrics(kit.gateway)
    for (let n = 0; n < 3; n++) await call()
    await kit.audit.flush()
    const text = exposition(metrics)
    assert.match(text, /^guard_mcp_decisions_total\{decision="allow"\} 3$/m)
    assert.match(text, /^guard_kept_records_total\{origin="mcp",kind="events"\} 3$/m)
  })

  it('is sent to the disk with those of its turn, and its end rides with the next or soon goes alone', async (t) => {
    await call()
    await kit.audit.flush()
    t.mock.timers.enable({ apis: ['setTimeout'] })
    written()
    const entries = await Promise.all(Array.from({ length: 8 }, () => pass()))
    kit.clock.advance(5)
    const sizes = () => batches.splice(0).map(({ length }) => length)
    assert.deepEqual(sizes(), [8])
    await Promise.all(entries.slice(0, 3).map((entry) => log.ended(entry, 'ok', 1)))
    assert.deepEqual(sizes(), [])
    await pass()
    assert.deepEqual(sizes(), [3, 1])
    await Promise.all(entries.slice(3).map((entry) => log.ended(entry, 'ok', 1)))
    assert.deepEqual(sizes(), [])
    t.mock.timers.tick(5)
    assert.deepEqual(sizes(), [5])
    assert.equal((await recordsOf(kit)).length, 10)
    t.mock.timers.reset()
  })

  it('is answered as soon as its decision is durable, and whoever reads it then reads its end', async () => {
    await call()
    const entry = await pass()
    kit.clock.advance(5)
    await log.ended(entry, 'ok', 3)
    const row = await kit.gateway.storage.get('mcp_audit', entry.id)
    assert.deepEqual([row?.outcome, row?.result_bytes, row?.traced], ['ok', 3, true])
    const other = await pass()
    kit.clock.advance(5)
    await log.ended(other, 'ok', 4)
    const { rows } = await kit.gateway.storage.find('mcp_audit', { where: { trace_id: other.trace_id, traced: true } })
    assert.deepEqual(rows.map(({ id }) => id).toSorted(), [entry.id, other.id].toSorted())
  })

  it('is shown once it runs for a while, and is one span of its run when it ends', async (t) => {
    const first = await call()
    await kit.audit.flush()
    t.mock.timers.enable({ apis: ['setTimeout'] })
    written()
    const slow = await pass()
    t.mock.timers.tick(100)
    assert.deepEqual(written(), ['mcp_audit'])
    t.mock.timers.tick(100)
    t.mock.timers.reset()
    await kit.audit.flush()
    const statuses = async () => (await spansOf(kit, first.trace_id, 'tool.call')).map(({ status }) => status)
    assert.deepEqual(await statuses(), ['ok', 'running'])
    kit.clock.advance(250)
    await log.ended(slow, 'ok', 1)
    assert.deepEqual(await statuses(), ['ok', 'ok'])
    const row = await kit.gateway.storage.get('mcp_audit', slow.id)
    assert.deepEqual([row?.outcome, row?.traced], ['ok', null])
  })

  it('of many at once all are on record, each once', async () => {
    await call()
    const entries = await Promise.all(Array.from({ length: 40 }, () => pass()))
    kit.clock.advance(5)
    await Promise.all(entries.map((entry) => log.ended(entry, 'ok', 1)))
    const rows = await recordsOf(kit)
    assert.deepEqual([rows.length, new Set(rows.map(({ seq }) => seq)).size], [41, 41])
    const { run } = await readTrace(kit.gateway.storage, entries[0]?.trace_id ?? '')
    assert.deepEqual([run.span_count, run.event_count], [42, 41])
  })
})

describe('a record that cannot be written', () => {
  beforeEach(() => start())
  afterEach(() => kit.close())

  it('keeps a call from being forwarded, and leaves the sums of the run as they are on record', async () => {
    const first = await call()
    await call()
    await kit.audit.flush()
    const { storage } = kit.gateway
    const { write } = storage
    storage.write = () => Promise.reject(new Error('broken'))
    await assert.rejects(pass(), /broken/)
    storage.write = write
    assert.equal((await readTrace(storage, first.trace_id)).run.span_count, 3)
    await call()
    assert.equal((await readTrace(storage, first.trace_id)).run.span_count, 4)
    assert.equal((await recordsOf(kit)).length, 3)
    assert.equal(kit.faults.length, 1)
  })

  it('keeps a call from being forwarded while the storage is known to fail', async () => {
    for (const [state, code] of [
      ['full', 'STORAGE_FULL'],
      ['failing', 'STORAGE_UNAVAILABLE'],
    ] as const) {
      Object.defineProperty(kit.gateway.storage, 'state', { get: () => state, configurable: true })
      await assert.rejects(pass(), { code })
    }
  })
})

describe('a process that dies', () => {
  it('leaves calls of which the next one makes the sums of the run', () =>
    withFolder(async (folder) => {
      await start(folder)
      const first = await call()
      for (let n = 0; n < 3; n++) await call()
      // whoever reads a record reads the ends of calls that were answered
      await kit.gateway.storage.get('mcp_audit', first.id)
      assert.equal(written().includes('runs'), true)
      const dead = kit
      // the next one opens beside what the first has written, whose late sums are not among it
      await start(folder)
      const row = await kit.gateway.storage.get('runs', first.trace_id)
      assert.deepEqual([row?.span_count, row?.event_count], [5, 4])
      await kit.close()
      await dead.close()
    }))
})
