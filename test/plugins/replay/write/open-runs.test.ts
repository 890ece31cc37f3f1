import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Gateway, type Session } from 'guard-gateway/core'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { foundation } from 'guard-gateway/presets/foundation'
import { MemoryBudget } from '#lib/memory-budget'
import { OpenRun } from '../../../../plugins/replay/write/open-run.ts'
import { OpenRuns } from '../../../../plugins/replay/write/open-runs.ts'
import { newRow } from '../../../../plugins/replay/write/run-row.ts'
import { fakeClock } from '../../../kit/clock.ts'
import { aCall, aDecision, aReading, aSession, settled } from '../../../kit/settled.ts'
import { type Bench, expecting, startReplay } from '../kit.ts'

const MIB = 1024 * 1024
const traceId = (n: number): string => n.toString(16).padStart(32, '0')

/** A run with this many successful spans of the gateway. */
const runOf = (n: number, spans: number): OpenRun => {
  const run = new OpenRun(newRow({ trace_id: traceId(n) }, 'gateway', 1n), true)
  for (let at = 0; at < spans; at++) add(run, n * 100_000 + at)
  return run
}
const add = (run: OpenRun, id: number): void =>
  run.spans.set({
    id: id.toString(16).padStart(16, '0'),
    parent: null,
    status: 'ok',
    start_ns: BigInt(id),
    end_ns: BigInt(id + 1),
    guarded: true,
    use: { input: 1n, cached: 0n, output: 2n, cost: 3n },
  })

const open = async (most?: number, budget = 32 * MIB) => {
  const clock = fakeClock()
  const gateway = await new Gateway({ clock }).use(...foundation(), memory()).open()
  return { clock, runs: new OpenRuns(gateway, new MemoryBudget(budget), most) }
}

describe('open runs', () => {
  it('take at most 32 MiB for 200,000 requests of 40 sessions, and 250 bytes per request', async () => {
    const { runs } = await open()
    let most = 0
    for (let n = 0; n < 40; n++) {
      const run = runOf(n, 5_000)
      assert.deepEqual([run.spans.sums.input, run.size], [5_000n, 5_000])
      assert.ok(run.bytes < 5_000 * 250, String(run.bytes))
      runs.add(run)
      most = Math.max(most, runs.bytes)
    }
    assert.ok(most <= 32 * MIB, String(most))
    assert.ok(runs.size > 20 && runs.size < 40, String(runs.size))
    assert.deepEqual([runs.at(traceId(39))?.size, runs.at(traceId(0))], [5_000, undefined])
  })
  it('take a base, 250 bytes for a record that waits, and 80 for a word', () => {
    const run = runOf(0, 0)
    const empty = run.bytes
    assert.ok(empty >= 6_000 && empty < 7_000, String(empty))
    const words = run.words.size
    run.words.addEvent({ name: 'one two', attributes: {} } as never)
    const more = run.words.size - words
    assert.ok(more > 0)
    assert.equal(run.bytes, empty + 80 * more)
    run.deferredRecords.push(...Array.from({ length: 3 }, () => ({}) as never))
    assert.equal(run.bytes, empty + 80 * more + 3 * 250)
  })
  it('are evicted by size, least recently used first, except for the current one', async () => {
    const { runs, clock } = await open(4 * MIB)
    for (let n = 0; n < 10; n++) {
      clock.advance(2_000)
      runs.add(runOf(n, 5_000))
      runs.peek(traceId(0))
      assert.ok(runs.bytes <= 4 * MIB)
    }
    assert.deepEqual(
      Array.from({ length: 10 }, (_, n) => runs.at(traceId(n)) !== undefined)
        .map(Number)
        .join(''),
      '1000000011',
    )
    runs.add(runOf(10, 40_000))
    assert.deepEqual([runs.size, runs.at(traceId(10))?.size], [1, 40_000])
  })
  it('are evicted also when one grows and none is added', async () => {
    const { runs, clock } = await open(4 * MIB)
    for (let n = 0; n < 3; n++) runs.add(runOf(n, 5_000))
    const growing = runs.peek(traceId(2))
    assert.ok(growing)
    for (let at = 5_000; at < 20_000; at++) add(growing, 200_000 + at)
    clock.advance(1_000)
    runs.peek(traceId(2))
    assert.deepEqual([runs.size, runs.at(traceId(2))], [1, growing])
  })
  it('are not evicted while their rows are outdated', async () => {
    const { runs, clock } = await open(MIB)
    const deferred = runOf(0, 5_000)
    deferred.deferredRecords.push({
      span_id: 'f'.repeat(16),
      parent_span_id: null,
      received_at: 1,
      ended_at: 2,
      cached_tokens: 0,
      input_tokens: 1,
      output_tokens: 1,
      cost_micro: 0,
      tool_count: 0,
    })
    runs.add(deferred)
    clock.advance(3_600_000)
    runs.add(runOf(1, 5_000))
    assert.equal(runs.at(traceId(0)), deferred)
    deferred.deferredRecords.length = 0
    runs.add(runOf(2, 5_000))
    assert.equal(runs.at(traceId(0)), undefined)
  })
  it('are evicted soon when full, otherwise after half an hour', async () => {
    const { runs, clock } = await open()
    const full = runOf(0, 10)
    full.isFull = true
    runs.add(full)
    runs.add(runOf(1, 10))
    clock.advance(10_001)
    runs.add(runOf(2, 10))
    assert.deepEqual([runs.at(traceId(0)), runs.size], [undefined, 2])
    clock.advance(30 * 60_000)
    runs.add(runOf(3, 10))
    assert.equal(runs.size, 1 + Number(runs.at(traceId(2)) !== undefined))
  })
})

/** Sends a concurrent request per session, so that their runs are evicted before they end. Returns their runs. */
const roundOf = async (bench: Bench, sessions: readonly Session[], round: number): Promise<readonly string[]> => {
  const at = bench.clock.now()
  const calls = sessions.map((session, n) => aCall({ id: `guardreq_${round}_${n}`, at, session }))
  for (const call of calls) await bench.gateway.hooks.decision.promise(aDecision(), call)
  bench.clock.advance(1_500)
  for (const call of calls) await bench.settle(settled({ call, ended_at: bench.clock.now(), reading: aReading() }))
  return calls.map(({ trace }) => trace?.trace_id ?? '')
}

/** Output tokens and spans of a run: the reported ones, and those computed from its records. */
const totalsOf = async (bench: Bench, id: string) => {
  const { run } = expecting<{ run: Record<string, unknown> }>(200, await bench.send('GET', `/api/v1/runs/${id}`))
  const { rows } = await bench.gateway.storage.find('calls', { where: { trace_id: id }, limit: 100 })
  const tokens = rows.reduce((sum, { output_tokens }) => sum + output_tokens, 0)
  return { told: [run.output_tokens, run.span_count, run.status], stored: [tokens, rows.length + 1, 'ok'] }
}

/** Sends 25 requests in each of six sessions, which evict one another’s runs. Returns their runs. */
const runsOf = async (bench: Bench): Promise<ReadonlySet<string>> => {
  const sessions = Array.from({ length: 6 }, (_, n): Session => aSession({ id: `ses_${n}`, external_id: `w${n}` }))
  const ids = new Set<string>()
  for (let round = 0; round < 25; round++) {
    for (const id of await roundOf(bench, sessions, round)) ids.add(id)
    if (round % 5 === 4) await bench.send('GET', '/api/v1/runs')
  }
  return ids
}

describe('open runs of a gateway that is not used', () => {
  it('are evicted, and found again with all their requests', async (t) => {
    const budget = new MemoryBudget()
    const bench = await startReplay({ backend: 'sqlite', memory_budget: budget })
    t.after(() => bench.close())
    const held = () => budget.byName().get('open_runs') ?? 0
    const ids = await runsOf(bench)
    assert.ok(held() > 6 * 6_000, String(held()))
    budget.end()
    t.mock.timers.enable({ apis: ['setTimeout'] })
    // deferred rows are written first
    await bench.send('GET', '/api/v1/runs')
    budget.part({ name: 'test', shrink: () => {} }).hold(1)
    for (let look = 0; look < 5; look++) t.mock.timers.tick(30_000)
    assert.equal(held(), 0)
    for (const id of ids) {
      const { told, stored } = await totalsOf(bench, id)
      assert.deepEqual(told, stored)
    }
  })
  it('are evicted too if the last request ended before their row was written', async (t) => {
    const budget = new MemoryBudget(1)
    const bench = await startReplay({ memory_budget: budget })
    t.after(() => bench.close())
    const session = aSession({ id: 'ses_a', external_id: 'a' })
    const last = aCall({ id: 'guardreq_last', at: bench.clock.now(), session })
    await bench.gateway.hooks.decision.promise(aDecision(), last)
    for (let round = 0; round < 4; round++) await roundOf(bench, [session], round)
    await bench.send('GET', '/api/v1/runs')
    await roundOf(bench, [session], 4)
    await bench.settle(settled({ call: last, ended_at: last.at, reading: aReading() }))
    await bench.send('GET', '/api/v1/runs')
    // a use of another run, after which nothing is in use
    await roundOf(bench, [aSession({ id: 'ses_b', external_id: 'b' })], 9)
    const { open_runs } = Object(bench.gateway.health.get('replay')?.())
    assert.equal(open_runs, 1)
  })
})

describe('totals of runs that were loaded again', () => {
  for (const backend of ['memory', 'sqlite'] as const)
    it(`include all requests, after any number of evictions: ${backend}`, async (t) => {
      const bench = await startReplay({ backend, max_open_bytes: 1 })
      t.after(() => bench.close())
      const ids = await runsOf(bench)
      for (const id of ids) {
        const { told, stored } = await totalsOf(bench, id)
        assert.deepEqual(told, stored)
        assert.equal(stored[1], 26)
      }
      assert.deepEqual([ids.size, bench.faults], [6, []])
    })
})
