import assert from 'node:assert/strict'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import type { Call, Change, Session, Settled } from 'guard-gateway/core'
import type { RunSummary } from '#lib/trace-file'
import { aCall, aDecision, aReading, aSession, blocked, settled } from '../../../kit/settled.ts'
import { type Bench, type Bundle, expecting, startReplay } from '../kit.ts'

describe('the row of a run', () => {
  let bench: Bench
  let session: Session
  let batches: (readonly Change[])[]
  let calls = 0
  /** In memory, or with the database of a folder, which takes longer to open than most of these tests. */
  const start = async (folder?: string): Promise<void> => {
    bench = await startReplay(folder === undefined ? {} : { folder })
    const { storage } = bench.gateway
    const { write } = storage
    batches = []
    storage.write = (batch, options) => {
      batches.push(batch)
      return write(batch, options)
    }
  }
  beforeEach(async () => {
    session = aSession({ requests: 0 })
    await start()
  })
  afterEach(async () => {
    assert.deepEqual(bench.faults, [])
    await bench.close()
  })

  const arrived = async (over: Partial<Call> = {}): Promise<Call> => {
    const call = aCall({ id: `guardreq_${++calls}`, at: bench.clock.now(), session, ...over })
    await bench.gateway.hooks.decision.promise(aDecision(), call)
    return call
  }
  const done = async (call: Call, over: Partial<Settled> = {}): Promise<Call> => {
    bench.clock.advance(10)
    session.row.requests++
    await bench.settle(settled({ call, ended_at: bench.clock.now(), forwarded_at: call.at, ...over }))
    return call
  }
  const request = async (over: Partial<Settled> = {}): Promise<Call> => done(await arrived(), over)
  /** Writes since the last call, without session totals and hourly sums. */
  const tables = () =>
    batches
      .splice(0)
      .map((batch) => batch.map(({ table }) => table).filter((table) => !['sessions', 'calls_by_hour'].includes(table)))
  const runs = async (query = ''): Promise<readonly RunSummary[]> =>
    expecting<{ runs: readonly RunSummary[] }>(200, await bench.send('GET', `/api/v1/runs${query}`)).runs
  const run = async (id: string | undefined): Promise<Bundle> =>
    expecting(200, await bench.send('GET', `/api/v1/runs/${id}`))

  it('is not written with a request that changes only sums', async () => {
    await request()
    await request()
    assert.deepEqual(tables(), [['calls', 'runs'], ['calls']])
  })

  it('is written before a read, with changed columns only', async () => {
    await request()
    const call = await request()
    await request()
    tables()
    const reads = [
      async () => (await run(call.trace?.trace_id)).run,
      async () => (await runs())[0],
      async () => (await runs('?min_tokens=1&sort=tokens'))[0],
    ]
    for (const [at, read] of reads.entries()) {
      const summary = await read()
      assert.deepEqual(
        [summary?.span_count, summary?.event_count, Number(summary?.total_tokens)],
        [4 + at, 3 + at, 30 * (3 + at)],
      )
      assert.equal(batches.length, 1)
      assert.deepEqual(Object.keys(batches[0]?.[0]?.patch ?? {}).sort(), [
        ...['duration_ns', 'end_ns', 'event_count', 'input_tokens', 'output_tokens', 'revision', 'span_count'],
        ...['total_tokens', 'updated_ns'],
      ])
      await request()
      batches.length = 0
    }
  })

  it('is not written for a reader of another run', async () => {
    await request()
    const { trace } = await request()
    const other = await arrived({ session: aSession({ id: 'ses_other' }) })
    await done(other)
    tables()
    assert.equal((await run(other.trace?.trace_id)).run.span_count, 2)
    assert.deepEqual(batches, [])
    assert.equal((await run(trace?.trace_id)).run.span_count, 3)
    assert.equal(batches.length, 1)
  })

  it('is written with a request that changes words, status or a tag', async () => {
    await request()
    for (const over of [
      { reading: aReading({ model: 'another-model' }) },
      { status: 500, outcome: 'upstream_error' },
      { ended_at: bench.clock.now() + 1_000 },
    ] as const) {
      tables()
      await request(over)
      assert.deepEqual(tables(), [['calls', 'runs']])
    }
    const refused = await arrived()
    await done(refused, blocked(refused))
    assert.deepEqual(tables(), [['calls', 'runs', 'flags_by_hour']])
    assert.equal((await runs('?failure_tag=loop')).length, 1)
  })

  it('is written with the first call of a tool, and after another writer’s change of the run', async () => {
    const calls = (...tools: readonly string[]) => ({
      reading: aReading({ calls: tools.map((tool) => ({ id: null, tool, args: {} })) }),
    })
    await request()
    const call = await request(calls('read'))
    tables()
    for (const tools of [['read'], ['read', 'read'], [], ['read']]) await request(calls(...tools))
    assert.deepEqual(
      tables()
        .flat()
        .filter((table) => table === 'runs'),
      [],
    )
    await request(calls('read', 'write'))
    assert.deepEqual(tables(), [['calls', 'runs']])
    assert.equal((await runs('?tool=write'))[0]?.span_count, 1 + 7 + 7)
    await request(calls('write'))
    const trace_id = String(call.trace?.trace_id)
    expecting(200, await bench.send('POST', '/api/v1/spans', { trace_id, name: 'theirs' }))
    tables()
    await request()
    assert.equal((await run(trace_id)).run.span_count, 1 + 9 + 8 + 1)
  })

  it('is written when the gateway closes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'guard-late-'))
    await bench.close()
    await start(folder)
    await request()
    const call = await request()
    tables()
    await bench.close()
    assert.deepEqual(tables(), [['runs']])
    await start(folder)
    assert.equal((await run(call.trace?.trace_id)).run.span_count, 3)
    assert.deepEqual(tables(), [])
    await rm(folder, { recursive: true })
  })

  it('is recomputed once at the start after a crash', async (context) => {
    // on a machine of any speed, no sums are written meanwhile
    const { setTimeout } = globalThis
    const later = (task: () => void, ms?: number) => setTimeout(task, ms === 2_000 ? 3_600_000 : ms)
    context.mock.method(globalThis, 'setTimeout', later as typeof setTimeout)
    const folder = await mkdtemp(join(tmpdir(), 'guard-late-'))
    await bench.close()
    await start(folder)
    const first = await request()
    for (let n = 0; n < 4; n++) await request()
    // 11 s of requests with deferred sums
    const other = aSession({ id: 'ses_other', requests: 0 })
    for (let n = 0; n < 1_100; n++) await done(await arrived({ session: other }))
    const dead = await mkdtemp(join(tmpdir(), 'guard-late-'))
    await bench.gateway.storage.flush()
    // the state after a kill
    for (const name of ['guard.db', 'guard.db-wal']) await copyFile(join(folder, name), join(dead, name))
    await bench.close()
    const stored = () => {
      const db = new Sqlite(join(dead, 'guard.db'))
      const rows = db.prepare('select span_count, revision from runs order by recorded').raw().all()
      db.close()
      return rows
    }
    assert.deepEqual(stored(), [
      [2, 1],
      [2, 1],
    ])
    for (let starts = 0; starts < 2; starts++) {
      await start(dead)
      const { run: summary } = await run(first.trace?.trace_id)
      assert.deepEqual([summary.span_count, summary.event_count, Number(summary.total_tokens)], [6, 5, 150])
      await bench.close()
      assert.deepEqual(stored(), [
        [6, 2],
        [1_101, 2],
      ])
    }
    await start()
    for (const made of [folder, dead]) await rm(made, { recursive: true })
  })

  it('is retried after a failed write', async () => {
    await request()
    const call = await request()
    const { storage } = bench.gateway
    const { write } = storage
    let refused = 0
    storage.write = (batch, options) => {
      if (refused === 3 || batch.some(({ table }) => table !== 'runs')) return write(batch, options)
      refused++
      return Promise.reject(new Error('not now'))
    }
    await runs()
    assert.equal(refused, 3)
    assert.equal((await run(call.trace?.trace_id)).run.span_count, 3)
  })

  it('loses no sum if another process writes to the same run', async () => {
    const call = await request()
    const id = String(call.trace?.trace_id)
    await request()
    await bench.gateway.storage.patch('runs', id, { revision: 40, name: 'theirs' })
    await request()
    await request()
    const [summary] = await runs()
    assert.deepEqual([summary?.name, summary?.span_count, Number(summary?.total_tokens)], ['theirs', 5, 120])
  })
})
