import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { describe, it, type TestContext } from 'node:test'
import { MemoryBudget } from '#lib/memory-budget'
import { endAbandonedRuns } from '../../../../plugins/replay/maintenance/abandoned-runs.ts'
import { Retention, type RetentionReport } from '../../../../plugins/replay/maintenance/retention.ts'
import type { Retention as Settings } from '../../../../plugins/replay/options.ts'
import { RunWriter } from '../../../../plugins/replay/write/run-writer.ts'
import { aCall, aDecision, settled } from '../../../kit/settled.ts'
import { type Bench, type Bundle, expecting, startReplay } from '../kit.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const off: Settings = { days: null, max_runs: null, max_bytes: null }

const started = async (test: TestContext, backend: 'memory' | 'sqlite' = 'memory'): Promise<Bench> => {
  const bench = await startReplay({ backend })
  test.after(() => bench.close())
  return bench
}
const post = async (bench: Bench, trace_id: string, more: object = {}): Promise<void> => {
  const body = { trace_id, spans: [{ name: 'x', events: [{ name: 'e' }] }], artifacts: [{ path: 'a' }], ...more }
  assert.equal((await bench.send('POST', '/api/v1/traces', body)).status, 201)
}
/** Runs `r0`, `r1` and so on, a millisecond apart. */
const postEach = async (bench: Bench, count: number): Promise<void> => {
  for (let n = 0; n < count; n++) {
    await post(bench, `r${n}`)
    bench.clock.advance(1)
  }
}
const ids = async ({ gateway }: Bench): Promise<readonly string[]> =>
  (await gateway.storage.find('runs', { limit: 1_000 })).rows.map(({ trace_id }) => trace_id)
const retained = (bench: Bench, settings: Settings): Retention =>
  new Retention(bench.gateway, new RunWriter(bench.gateway, () => {}, new MemoryBudget()), { ...off, ...settings })

describe('retention', () => {
  for (const backend of ['memory', 'sqlite'] as const)
    it(`removes runs by the age of their recording, with all their records, on ${backend}`, async (test) => {
      const bench = await started(test, backend)
      await post(bench, 'old', { start_ns: '1' })
      await post(bench, 'pinned')
      await bench.send('POST', '/api/v1/runs/pinned/pin')
      bench.clock.advance(29 * DAY)
      await post(bench, 'young', { start_ns: '1' })
      bench.clock.advance(1 * DAY + 1)
      assert.equal(await retained(bench, { days: 30 }).pass(), 1)
      assert.deepEqual(await ids(bench), ['young', 'pinned'])
      for (const table of ['spans', 'events', 'artifacts'] as const) {
        const { rows } = await bench.gateway.storage.find(table)
        assert.deepEqual(new Set(rows.map(({ trace_id }) => trace_id)), new Set(['young', 'pinned']))
      }
    })

  it('removes the records of the model requests of a run', async (test) => {
    const bench = await started(test)
    const call = aCall({ at: bench.clock.now() })
    await bench.gateway.hooks.decision.promise(aDecision(), call)
    await bench.settle(settled({ call, ended_at: call.at }))
    bench.clock.advance(31 * DAY)
    assert.equal(await retained(bench, { days: 30 }).pass(), 1)
    assert.equal((await bench.gateway.storage.find('calls')).rows.length, 0)
  })

  it('announces traces before it removes their records, and keeps them if the announcement fails', async (test) => {
    const bench = await started(test)
    await postEach(bench, 2)
    bench.clock.advance(31 * DAY)
    const told: (readonly string[])[] = []
    bench.gateway.hooks.forget.tapPromise('test', async (trace_ids) => {
      told.push(trace_ids)
      assert.ok((await bench.gateway.storage.find('spans')).rows.length > 0)
      if (told.length === 1) throw new Error('not yet')
    })
    await assert.rejects(() => retained(bench, { days: 30 }).pass(), /not yet/)
    assert.equal((await ids(bench)).length, 2)
    assert.equal(await retained(bench, { days: 30 }).pass(), 2)
    assert.deepEqual(told, [
      ['r0', 'r1'],
      ['r0', 'r1'],
    ])
  })

  it('removes the oldest runs above a number, in steps', async (test) => {
    const bench = await started(test)
    await postEach(bench, 12)
    bench.clock.advance(2 * HOUR)
    assert.equal(await retained(bench, { max_runs: 9 }).pass(), 3)
    assert.deepEqual((await ids(bench)).at(-1), 'r3')
  })

  it('reports that more runs would be removed than one pass counts, also while one of them changes', async (test) => {
    const bench = await started(test)
    await postEach(bench, 110)
    bench.clock.advance(2 * DAY)
    await bench.send('POST', '/api/v1/traces', { trace_id: 'r5', name: 'again' })
    const told = async (settings: Settings) => {
      const { would_remove, more } = await retained(bench, settings).report()
      return [would_remove, more]
    }
    assert.deepEqual(await told({ max_runs: 5 }), [99, true])
    assert.deepEqual(await told({ days: 1 }), [99, true])
    assert.deepEqual(await told({ max_runs: 70 }), [40, false])
  })

  it('removes the oldest runs while the store is too large', async (test) => {
    const bench = await started(test)
    await post(bench, 'only')
    bench.clock.advance(2 * HOUR)
    assert.equal(await retained(bench, { max_bytes: 1_000_000 }).pass(), 0)
    assert.equal(await retained(bench, { max_bytes: 1 }).pass(), 1)
  })

  it('removes runs with a recording time far in the future', async (test) => {
    const bench = await started(test)
    for (const id of ['a', 'b', 'c']) {
      await post(bench, id)
      bench.clock.advance(1)
    }
    bench.clock.jump(-2 * HOUR)
    assert.equal(await retained(bench, { max_runs: 1 }).pass(), 2)
    assert.deepEqual(await ids(bench), ['c'])
  })

  it('keeps runs that are still written', async (test) => {
    const bench = await started(test)
    await post(bench, 'running', { status: 'running' })
    await post(bench, 'done')
    bench.clock.advance(HOUR - 1)
    assert.equal(await retained(bench, { max_runs: 0 }).pass(), 0)
    bench.clock.advance(HOUR)
    assert.equal(await retained(bench, { max_runs: 0 }).pass(), 1)
    assert.deepEqual(await ids(bench), ['running'])
    bench.clock.advance(DAY)
    assert.equal(await retained(bench, { max_runs: 0 }).pass(), 1)
  })

  it('continues past many active runs to those after them', async (test) => {
    const bench = await started(test)
    for (let n = 0; n < 100; n++) await post(bench, `running${n}`, { status: 'running' })
    bench.clock.advance(1)
    await post(bench, 'done')
    bench.clock.advance(2 * HOUR)
    assert.equal(await retained(bench, { max_runs: 50 }).pass(), 1)
    assert.equal((await ids(bench)).includes('done'), false)
  })

  it('reports what the next pass would remove', async (test) => {
    const bench = await started(test)
    await post(bench, 'a')
    await post(bench, 'b')
    bench.clock.advance(31 * DAY)
    const report = expecting<RetentionReport>(200, await bench.send('GET', '/api/v1/retention'))
    assert.deepEqual([report.settings.days, report.would_remove, report.more, report.runs], [30, 2, false, 2])
    assert.ok(report.bytes > 0)
  })
})

describe('spans that an exited process left running', () => {
  const begun = async (bench: Bench): Promise<void> => {
    await bench.gateway.keep([
      {
        owner: 'mcp',
        origin: 'mcp',
        run: { trace_id: 'left' },
        spans: [{ id: 's', name: 'tool.call', status: 'running' }],
        events: [],
        artifacts: [],
      },
    ])
  }
  const read = async (bench: Bench): Promise<Bundle> => expecting(200, await bench.send('GET', '/api/v1/runs/left'))

  it('are ended after their writer has exited', async (test) => {
    const bench = await started(test)
    await begun(bench)
    assert.equal(await endAbandonedRuns(bench.gateway), 0)
    await bench.gateway.storage.patch('runs', 'left', { writer: `${hostname()}:${process.pid}:0` })
    assert.equal(await endAbandonedRuns(bench.gateway), 1)
    const { run, spans } = await read(bench)
    assert.deepEqual(
      [run.status, spans[1]?.status, spans[1]?.status_message],
      ['error', 'error', 'gateway stopped before the request ended'],
    )
    assert.equal(await endAbandonedRuns(bench.gateway), 0)
  })

  it('are ended after a day without an update, also those of clients', async (test) => {
    const bench = await started(test)
    await begun(bench)
    await post(bench, 'client', { spans: [{ name: 'x', status: 'running' }] })
    for (const run of ['left', 'client']) await bench.gateway.storage.patch('runs', run, { writer: 'another-host:1:0' })
    assert.equal(await endAbandonedRuns(bench.gateway), 0)
    bench.clock.advance(DAY + 1)
    assert.equal(await endAbandonedRuns(bench.gateway), 2)
    assert.equal((await read(bench)).run.status, 'error')
  })
})
