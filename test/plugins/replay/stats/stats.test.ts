import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { statsQuery } from '../../../../plugins/replay/stats/query.ts'
import { readStats } from '../../../../plugins/replay/stats/read-stats.ts'
import type { StatsSums } from '../../../../plugins/replay/stats/tally.ts'
import { NOON } from '../../../kit/settled.ts'
import { type Bench, expecting, startReplay } from '../kit.ts'

interface Answer {
  readonly runs: number
  readonly complete: boolean
  readonly covered_since: string | null
  readonly totals: StatsSums
  readonly series: readonly {
    readonly group: string | null
    readonly totals: StatsSums
    readonly buckets: readonly (StatsSums & { readonly at: string })[]
  }[]
}

const HOUR = 3_600_000
const ns = (ms: number): string => `${NOON + ms}000000`

const model = (name: string, from: number, took: number, tokens: readonly [number, number, number], cost: number) => ({
  name: 'gen_ai.request',
  start_ns: ns(from),
  end_ns: ns(from + took),
  attributes: {
    'gen_ai.request.model': name,
    'gen_ai.usage.input_tokens': tokens[0],
    'gen_ai.usage.cache_read.input_tokens': tokens[1],
    'gen_ai.usage.output_tokens': tokens[2],
    'guard.cost_micro': cost,
  },
})
const tool = (name: string, from: number, took: number, status = 'ok') => ({
  name: 'tool.call',
  status,
  start_ns: ns(from),
  end_ns: ns(from + took),
  attributes: { 'gen_ai.tool.name': name, region: from === 0 ? 'eu' : 'us' },
})

/** Two runs of yesterday's noon and one of an hour later. */
const RUNS = [
  {
    trace_id: 'one',
    project_id: 'shop',
    agent_name: 'coder',
    start_ns: ns(0),
    end_ns: ns(4_000),
    spans: [model('big', 0, 2_000, [1_000, 400, 50], 700), tool('grep', 0, 10), tool('grep', 2_000, 30, 'error')],
  },
  {
    trace_id: 'two',
    project_id: 'shop',
    agent_name: 'tester',
    status: 'error',
    start_ns: ns(1_000),
    end_ns: ns(2_000),
    spans: [model('small', 1_000, 500, [100, 0, 10], 20)],
  },
  {
    trace_id: 'three',
    project_id: 'blog',
    agent_name: 'coder',
    start_ns: ns(HOUR),
    end_ns: ns(HOUR + 8_000),
    spans: [model('big', HOUR, 4_000, [2_000, 0, 100], 1_500), tool('read', HOUR, 5)],
  },
]

describe('stats', () => {
  let bench: Bench
  before(async () => {
    bench = await startReplay({ backend: 'sqlite' })
    for (const run of RUNS) expecting(201, await bench.send('POST', '/api/v1/traces', run))
  })
  after(() => bench.close())
  const SPAN = 'since=2026-03-01T12:00:00Z&until=2026-03-02T00:00:00Z'
  const stats = async (query: string): Promise<Answer> =>
    expecting<Answer>(200, await bench.send('GET', `/api/v1/stats?${SPAN}&${query}`))
  const table = async (query: string, ...names: readonly (keyof StatsSums)[]) =>
    (await stats(query)).series.map(({ group, totals }) => [group, ...names.map((name) => totals[name])])

  it('sum runs, with exact percentiles', async () => {
    const { runs, complete, covered_since, totals } = await stats('')
    assert.deepEqual([runs, complete, covered_since], [3, true, '2026-03-01T12:00:00.000Z'])
    assert.deepEqual(totals, {
      ...{
        count: 3,
        errors: 2,
        input_tokens: 3_100,
        cached_input_tokens: 400,
        output_tokens: 160,
        total_tokens: 3_260,
      },
      ...{ cost_micro: 2_220, duration_ms: 13_000, p50_ms: 4_000, p95_ms: 8_000, p99_ms: 8_000, max_ms: 8_000 },
    })
  })

  it('are told apart by what runs have', async () => {
    assert.deepEqual(await table('group=agent', 'count', 'cost_micro'), [
      ['coder', 2, 2_200],
      ['tester', 1, 20],
    ])
    assert.deepEqual(await table('group=project', 'count'), [
      ['shop', 2],
      ['blog', 1],
    ])
  })

  it('of calls: by model, tool, or any attribute, each call once', async () => {
    assert.deepEqual(
      await table('of=models&group=name', 'count', 'input_tokens', 'cached_input_tokens', 'cost_micro', 'p50_ms'),
      [
        ['big', 2, 3_000, 400, 2_200, 2_000],
        ['small', 1, 100, 0, 20, 500],
      ],
    )
    assert.deepEqual(await table('of=tools&group=name', 'count', 'errors', 'p95_ms'), [
      ['grep', 2, 1, 30],
      ['read', 1, 0, 5],
    ])
    assert.deepEqual(await table('of=tools&group=attribute:region', 'count'), [
      ['us', 2],
      ['eu', 1],
    ])
    assert.deepEqual(await table('of=calls&group=kind', 'count'), [
      ['model', 3],
      ['tool', 3],
    ])
  })

  it('over time, empty steps left out', async () => {
    const { series } = await stats('of=tools&group=name&step=hour')
    assert.deepEqual(
      series.map(({ group, buckets }) => [group, buckets.map(({ at, count }) => [at, count])]),
      [
        ['grep', [['2026-03-01T12:00:00.000Z', 2]]],
        ['read', [['2026-03-01T13:00:00.000Z', 1]]],
      ],
    )
    const days = (await stats('step=day&time_zone=Pacific/Kiritimati')).series[0]?.buckets
    assert.deepEqual(
      days?.map(({ at }) => at),
      ['2026-03-01T10:00:00.000Z'],
    )
  })

  it('of runs that a filter of the list chooses', async () => {
    assert.equal((await stats('project_id=shop')).totals.count, 2)
    assert.equal((await stats('attribute=region%3Dus&of=models')).totals.count, 2)
    assert.equal((await stats('attribute=guard.cost_micro%3E1000')).totals.count, 1)
    assert.equal((await stats('status=error&of=models&group=name')).series[0]?.group, 'small')
  })

  it('leave out what began elsewhen', async () => {
    const at = async (range: string) =>
      expecting<Answer>(200, await bench.send('GET', `/api/v1/stats?${range}`)).totals.count
    assert.equal(await at('since=2026-03-01T12:30:00Z&until=2026-03-02'), 1)
    assert.equal(await at('since=2026-03-01T12:00:00Z&until=2026-03-01T13:00:00Z'), 2)
    assert.equal(await at('since=2026-02-01&until=2026-02-02'), 0)
  })

  it('say where they are not of all runs', async () => {
    const { storage, clock } = bench.gateway
    const read = (of: string, runs: number, records: number) => {
      const query = statsQuery({ of, since: '2026-03-01T12:00:00Z', until: '2026-03-02' }, clock.now())
      return readStats(storage, query, clock.now(), { runs, records })
    }
    for (let n = 0; n < 6; n++)
      await bench.send('POST', '/api/v1/traces', {
        ...RUNS[1],
        trace_id: `more-${n}`,
        start_ns: ns(-HOUR),
        end_ns: ns(-HOUR),
      })
    const all = await read('runs', 3, 1)
    assert.deepEqual([all.runs, all.complete, all.covered_since], [3, true, NOON])
    const query = statsQuery({ since: '2026-03-01', until: '2026-03-02' }, clock.now())
    const some = await readStats(storage, query, clock.now(), { runs: 3, records: 1 })
    assert.equal(some.complete, false)
    assert.ok(some.runs < 9 && some.totals.count === some.runs)
    const calls = await readStats(storage, { ...query, of: 'tools' }, clock.now(), { runs: 100, records: 3 })
    assert.equal(calls.complete, false)
  })

  it('name what is wrong with a parameter', async () => {
    const fault = async (query: string) => {
      const { status, body } = await bench.send('GET', `/api/v1/stats?${query}`)
      assert.equal(status, 400, query)
      return (body as { readonly error: { readonly code: string; readonly path?: string } }).error
    }
    assert.equal((await fault('of=traces')).path, '/of')
    assert.equal((await fault('group=colour')).path, '/group')
    assert.equal((await fault('group=kind')).path, '/group')
    assert.equal((await fault('step=week')).path, '/step')
    assert.equal((await fault('since=soon')).path, '/since')
    assert.equal((await fault('limit=5')).code, 'UNKNOWN_FILTER')
    assert.equal((await fault('step=minute&since=30d')).code, 'TOO_MANY_BUCKETS')
    assert.equal((await fault('time_zone=Mars/Olympus')).path, '/time_zone')
    assert.equal((await fault('attribute=%3E')).path, '/attribute')
  })
})
