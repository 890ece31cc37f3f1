import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { HourSums, MOST_GROUPS, OTHER } from '../../../../plugins/recorder/figures/hour-sums.ts'
import { hourOf, startOf } from '../../../../plugins/recorder/figures/hours.ts'
import { readFigures } from '../../../../plugins/recorder/figures/read.ts'
import { aCall, aSession, blocked, NOON, settled } from '../../../kit/settled.ts'
import { type Bench, present, startBench } from '../kit.ts'
import { recordedSums, storedSums } from './kit.ts'

const HOUR = 3_600_000
const cost = (cost_micro: number) => ({ cost_micro, cost_source: 'priced', price_version: 'a1' }) as const

describe('sums by hour', () => {
  let bench: Bench
  beforeEach(async () => {
    bench = await startBench()
  })
  afterEach(() => bench.close())
  const asked = (model: string) => ({ ...aCall().envelope, model })

  it('hold each call in its hour and group, with its tokens, bytes, cost and duration', async () => {
    const session = aSession()
    await bench.settle(
      settled({ call: aCall({ id: 'guardreq_1', session }), cost: cost(2_500_000) }),
      settled({ call: aCall({ id: 'guardreq_2', session }), outcome: 'upstream_error', ended_at: NOON + 301_000 }),
      settled({ call: aCall({ id: 'guardreq_3', session, at: NOON + HOUR }), ended_at: NOON + HOUR + 100 }),
    )
    const bytes = aCall().body.length
    const tokens = { input_tokens: 20, output_tokens: 10, total_tokens: 30 }
    const group = 'shop|builder|messages|m-1|main|allow|'
    assert.deepEqual(await storedSums(bench.gateway.storage), {
      [`2026-03-01T12|${group}`]: {
        ...{ requests: 2, errors: 1, input_tokens: 40, output_tokens: 20, total_tokens: 60, bytes_in: 2 * bytes },
        ...{ bytes_out: 1_024, duration_ms: 301_900, cost_micro: 2_500_000, took_1s: 1, took_longer: 1 },
      },
      [`2026-03-01T13|${group}`]: {
        ...{ requests: 1, ...tokens, bytes_in: bytes, bytes_out: 512, duration_ms: 100, took_100ms: 1 },
      },
    })
    assert.deepEqual(bench.faults, [])
  })

  it('are added by each process to a part of the hour, which is read as the hour', async () => {
    const { storage } = bench.gateway
    const [one, other] = [new HourSums(), new HourSums()]
    one.divide(7)
    other.divide(64 + 9)
    await bench.settle(settled({ call: aCall({ id: 'guardreq_1' }) }), settled({ call: aCall({ id: 'guardreq_2' }) }))
    const { rows } = await storage.find('calls')
    await storage.remove('calls_by_hour', { hour: hourOf(NOON) }, 100)
    for (const record of rows) await storage.write([one.call(record), other.call(record)])
    const hours = (await storage.find('calls_by_hour', { order: ['hour', 'asc'] })).rows.map(({ hour }) => hour)
    assert.deepEqual(hours, ['2026-03-01T12.07', '2026-03-01T12.09'])
    for (const step of ['hour', 'day'] as const) {
      const query = { since: NOON, until: NOON + 2 * HOUR, step, group: 'none' } as const
      const { series } = await readFigures(storage, query)
      const told = series.flatMap(({ buckets }) => buckets.map(({ at, requests }) => [at, requests]))
      assert.deepEqual(told, [[step === 'hour' ? NOON : NOON - 12 * HOUR, 4]], step)
    }
    // whole hours alone, up to the next
    const range = { where: { hour: { gte: hourOf(NOON), lt: hourOf(NOON + HOUR) } }, by: [], of: ['requests'] } as const
    assert.deepEqual(await storage.sum('calls_by_hour', { ...range, order: ['hour', 'asc'] }), [
      { by: {}, rows: 2, sums: { requests: 4 } },
    ])
    assert.equal(startOf('2026-03-01T12.07'), NOON)
  })

  it('count the repetition of a blocked request in the hour of the first one', async () => {
    const session = aSession()
    await bench.settle(
      blocked(aCall({ id: 'guardreq_1', session })),
      blocked(aCall({ id: 'guardreq_2', session, at: NOON + HOUR }), 'guardreq_1'),
      blocked(aCall({ id: 'guardreq_3', session, at: NOON + 2 * HOUR }), 'guardreq_1'),
    )
    const sums = await storedSums(bench.gateway.storage)
    const [[name, row] = []] = Object.entries(sums)
    assert.deepEqual([Object.keys(sums).length, row?.requests, row?.blocked_retries], [1, 1, 2])
    assert.match(present(name), /^2026-03-01T12\|shop\|builder\|messages\|m-1\|main\|block\|/)
  })

  it('are those of the records, whatever upstreams, clients and clocks say', async () => {
    const odd = [Number.MAX_SAFE_INTEGER, 2 ** 60, 0]
    const models = [
      "'; drop table calls --",
      '=cmd()',
      'x'.repeat(300),
      '\u{1f600}',
      '',
      '__proto__',
      'a|b',
      'a\u0000b',
    ]
    const times = [NOON, NOON - 40 * HOUR, 0, NOON + 1, Date.UTC(9999, 11, 31, 23, 59)]
    for (const [n, model] of models.entries()) {
      const at = times[n % times.length] ?? NOON
      const call = aCall({ id: `guardreq_${n}`, at, envelope: asked(model), agent_id: n % 2 === 0 ? null : 'a' })
      const total_tokens = odd[n % odd.length] ?? 0
      // a clock that is set back while the call is under way
      const ended_at = n % 3 === 0 ? at - HOUR : at + n * 1_000
      await bench.settle(settled({ call, ended_at, usage: { ...settled().usage, total_tokens } }))
    }
    assert.deepEqual(bench.faults, [])
    const sums = await storedSums(bench.gateway.storage)
    assert.deepEqual(sums, await recordedSums(bench.gateway.storage))
    assert.equal(
      Object.values(sums).reduce((sum, { requests = 0 }) => sum + requests, 0),
      models.length,
    )
  })

  it('are not written where the record is not', async () => {
    bench.gateway.hooks.record.tap('test', () => {
      throw new Error('no record')
    })
    await bench.gateway.hooks.settle.promise(settled())
    assert.deepEqual(await storedSums(bench.gateway.storage), {})
  })

  it('are written once where the write is tried again', async () => {
    const { storage } = bench.gateway
    const session = aSession()
    session.stored = true
    await bench.settle(settled({ call: aCall({ session }) }))
    const sums = await storedSums(storage)
    assert.deepEqual(sums, await recordedSums(storage))
    assert.equal(Object.values(sums)[0]?.requests, 1)
  })
})

describe('groups of an hour', () => {
  it('are no more than a number, however many models and projects clients make up', async () => {
    const bench = await startBench()
    await bench.settle(settled())
    const record = present(await bench.gateway.storage.get('calls', 'guardreq_1'))
    await bench.close()
    const sums = new HourSums()
    const keys = new Set<string>()
    for (let n = 0; n < 3 * MOST_GROUPS; n++) keys.add(sums.keyOf({ ...record, model_requested: `m${n}` }).join())
    assert.equal(keys.size, MOST_GROUPS + 1)
    for (let n = 0; n < 3 * MOST_GROUPS; n++)
      keys.add(sums.keyOf({ ...record, project_id: `p${n}`, model_requested: `m${n}` }).join())
    assert.ok(keys.size <= 2 * MOST_GROUPS + 2, `${keys.size}`)
    const [, project, agent, , model] = sums.keyOf({ ...record, project_id: 'one more', model_requested: 'new' })
    assert.deepEqual([project, agent, model], [OTHER, '', OTHER])
    // those that were known stay apart, and so does every other hour
    assert.equal(sums.keyOf({ ...record, model_requested: 'm7' })[4], 'm7')
    assert.equal(sums.keyOf({ ...record, received_at: NOON + HOUR, model_requested: 'new' })[4], 'new')
  })
  it('forget nothing that matters when a clock jumps through a million hours', () => {
    const sums = new HourSums()
    const one = { project_id: 'p', agent_id: null, style: 's', model_requested: 'm', upstream: null } as const
    const record = { ...one, decision: 'allow', reason: null } as const
    for (let hour = 0; hour < 100_000; hour++)
      assert.equal(sums.keyOf({ ...record, received_at: hour * HOUR })[0], hourOf(hour * HOUR))
  })
})

describe('names of hours', () => {
  it('are ordered as hours are, and begin where they begin', () => {
    assert.equal(hourOf(NOON + 59 * 60_000), '2026-03-01T12')
    assert.equal(startOf('2026-03-01T12'), NOON)
    for (const at of [-1, Number.NaN, -Infinity]) assert.equal(hourOf(at), '1970-01-01T00')
    for (const at of [Number.MAX_SAFE_INTEGER, Infinity, 8.64e15]) assert.equal(hourOf(at), '9999-12-31T23')
  })
})
