import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { FiguresAnswer, FiguresQuery } from '#lib/trace'
import { readFigures } from '../../../../plugins/recorder/figures/read.ts'
import { aCall, aDecision, aSession, blocked, NOON, settled } from '../../../kit/settled.ts'
import { type Bench, startBench } from '../kit.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

describe('figures over time', () => {
  let bench: Bench
  before(async () => {
    bench = await startBench()
    const session = aSession()
    let id = 0
    const call = (at: number, over: Partial<Parameters<typeof aCall>[0]> = {}) =>
      aCall({ id: `guardreq_${++id}`, at, session, ...over })
    const model = (name: string) => ({ envelope: { ...aCall().envelope, model: name } })
    const cost = { cost_micro: 7, cost_source: 'priced', price_version: null } as const
    await bench.settle(
      settled({ call: call(NOON), ended_at: NOON + 150, cost }),
      settled({
        call: call(NOON + MINUTE),
        ended_at: NOON + MINUTE + 4_000,
        decision: aDecision({ decision: 'shadow_flag' }),
      }),
      blocked(call(NOON + HOUR, { agent_id: null })),
      settled({
        call: call(NOON + 12 * HOUR, model('m-2')),
        ended_at: NOON + 12 * HOUR + 400_000,
        upstream: 'playground',
      }),
      settled({ call: call(NOON + DAY, { ...model('(odd)'), project_id: 'lab' }), outcome: 'unreachable' }),
    )
    assert.deepEqual(bench.faults, [])
  })
  after(() => bench.close())

  const read = (query: Partial<FiguresQuery>): Promise<FiguresAnswer> =>
    readFigures(bench.gateway.storage, { since: NOON, until: NOON + 2 * DAY, step: 'hour', group: 'none', ...query })
  const told = ({ series, starts, since }: FiguresAnswer) =>
    series.map(({ group, buckets }) => [
      group,
      ...buckets.map(({ at, requests }) => `${starts.includes(at) ? (at - since) / HOUR : 'odd'}:${requests}`),
    ])

  it('are told by the hour, with totals and what was counted', async () => {
    const answer = await read({})
    assert.deepEqual(told(answer), [[null, '0:2', '1:1', '12:1', '24:1']])
    assert.equal(answer.starts.length, 48)
    const {
      requests,
      allowed,
      flagged,
      blocked: refused,
      errors,
      total_tokens,
      cost_micro,
      p50_ms,
      p95_ms,
    } = answer.totals
    assert.deepEqual([requests, allowed, flagged, refused, errors, cost_micro], [5, 3, 1, 1, 1, 7])
    assert.equal(total_tokens, 120)
    // 0 ms, 150 ms, 4 s and more than 300 s: the blocked one is left out
    assert.deepEqual([p50_ms, p95_ms], [250, 300_000])
    assert.deepEqual([answer.complete, answer.until - answer.since], [true, 2 * DAY])
  })
  it('are told by six hours, and as a whole', async () => {
    assert.deepEqual(told(await read({ step: '6h' })), [[null, '0:3', '12:1', '24:1']])
    const whole = await read({ step: 'whole', since: NOON + HOUR / 2, until: NOON + DAY - 1 })
    assert.deepEqual([told(whole), whole.starts.length], [[[null, '0:4']], 1])
    assert.equal((await read({ step: 'whole', since: 0, until: Date.UTC(9999, 0) })).totals.requests, 5)
  })
  it('have the buckets of all calls beside those of each group', async () => {
    const { buckets } = await read({ group: 'model' })
    assert.deepEqual(buckets, (await read({})).series[0]?.buckets)
  })
  it('are grouped', async () => {
    const groups = async (group: FiguresQuery['group']) =>
      (await read({ group })).series.map((one) => [one.group, one.totals.requests])
    assert.deepEqual(await groups('decision'), [
      ['allow', 3],
      ['block', 1],
      ['shadow_flag', 1],
    ])
    assert.deepEqual(await groups('model'), [
      ['m-1', 3],
      ['(odd)', 1],
      ['m-2', 1],
    ])
    assert.deepEqual(await groups('agent'), [
      ['builder', 4],
      [null, 1],
    ])
    assert.deepEqual(await groups('project'), [
      ['shop', 4],
      ['lab', 1],
    ])
    assert.deepEqual(await groups('upstream'), [
      ['main', 4],
      ['playground', 1],
    ])
  })
  it('keep to a project, an agent, and to the Playground or the rest', async () => {
    const requests = async (query: Partial<FiguresQuery>) => [
      (await read(query)).totals.requests,
      (await read({ ...query, until: NOON + 30 * HOUR, step: 'minute' })).totals.requests,
    ]
    assert.deepEqual(await requests({ project_id: 'lab' }), [1, 1])
    assert.deepEqual(await requests({ agent_id: 'builder' }), [4, 4])
    assert.deepEqual(await requests({ playground: true }), [1, 1])
    assert.deepEqual(await requests({ playground: false }), [4, 4])
  })
  it('by the minute are those of the calls', async () => {
    const answer = await read({ step: 'minute', until: NOON + 2 * HOUR, group: 'decision' })
    assert.deepEqual(
      told(answer).map(([group]) => group),
      ['allow', 'block', 'shadow_flag'],
    )
    assert.equal(answer.starts.length, 120)
    const hours = await read({ until: NOON + 2 * HOUR, group: 'decision' })
    assert.deepEqual(
      [answer.totals, answer.series.map(({ totals }) => totals)],
      [hours.totals, hours.series.map(({ totals }) => totals)],
    )
  })
  it('begin days in the time zone, of which some have 23 or 25 hours', async () => {
    const days = async (time_zone: string, since: number, until: number) => {
      const { starts, until: end } = await read({ step: 'day', time_zone, since, until })
      return [...starts, end].slice(1).map((at, n) => (at - (starts[n] ?? 0)) / HOUR)
    }
    assert.deepEqual(await days('Europe/Berlin', Date.UTC(2026, 2, 28, 12), Date.UTC(2026, 2, 30, 12)), [24, 23, 24])
    assert.deepEqual(await days('Europe/Berlin', Date.UTC(2026, 9, 24, 12), Date.UTC(2026, 9, 26, 12)), [24, 25, 24])
    assert.deepEqual(await days('Asia/Kolkata', NOON, NOON + DAY), [24, 24])
    const of = async (time_zone: string) => told(await read({ step: 'day', time_zone }))
    assert.deepEqual(await of('UTC'), [[null, '0:3', '24:2']])
    // noon and the hours after it lie in the next day there
    assert.deepEqual(await of('Pacific/Auckland'), [[null, '0:4', '24:1']])
  })
  it('say which groups are too many', async () => {
    const many = await startBench()
    for (let n = 0; n < 60; n++) {
      const call = aCall({
        id: `guardreq_${n}`,
        session: aSession(),
        envelope: { ...aCall().envelope, model: `m-${n}` },
      })
      for (let again = 0; again < (n === 7 ? 2 : 1); again++)
        await many.settle(settled({ call: { ...call, id: `${call.id}_${again}` } }))
    }
    const asked = { since: NOON, until: NOON + HOUR, step: 'hour', group: 'model' } as const
    const { series, totals } = await readFigures(many.gateway.storage, asked)
    assert.deepEqual(
      [series.length, series[0]?.group, series.at(-1)?.group, series.at(-1)?.totals.requests],
      [51, 'm-7', '(other)', 10],
    )
    assert.equal(totals.requests, 61)
    await many.close()
  })
  it('refuse more steps than 2,000, times that are none and zones that are none', async () => {
    const refused = (query: Partial<FiguresQuery>, error: object) => assert.rejects(read(query), error)
    const many = { code: 'TOO_MANY_BUCKETS' }
    await refused({ until: NOON + 2_001 * HOUR }, many)
    await refused({ step: 'minute', until: NOON + 34 * HOUR }, many)
    await refused({ step: 'day', since: 0, until: Date.UTC(9999, 0) }, many)
    assert.equal((await read({ since: NOON, until: NOON + 2_000 * HOUR })).starts.length, 2_000)
    const invalid = { code: 'INVALID_REQUEST' }
    for (const [since, until] of [
      [NOON, NOON],
      [NOON, NOON - 1],
      [-1, NOON],
      [Number.NaN, NOON],
      [NOON, Infinity],
    ])
      await refused({ since: since ?? 0, until: until ?? 0 }, invalid)
    for (const time_zone of ['Mars/Olympus', '', '../etc', 'x'.repeat(5_000)]) await refused({ time_zone }, invalid)
  })
  it('are served, and shared with other plugins', async () => {
    const url = `/api/v1/figures?since=2026-03-01T12:00:00Z&until=2026-03-03&step=day&group=project&time_zone=Europe/Berlin&playground=false`
    const answer = (await bench.app.inject({ url })).json()
    assert.deepEqual(
      [answer.since, answer.time_zone, answer.complete],
      ['2026-02-28T23:00:00.000Z', 'Europe/Berlin', true],
    )
    assert.deepEqual(
      answer.series[1].buckets.map((one: { at: string; requests: number }) => [one.at, one.requests]),
      [['2026-03-01T23:00:00.000Z', 1]],
    )
    const error = async (query: string) => (await bench.app.inject({ url: `/api/v1/figures?${query}` })).json().error
    assert.equal((await error('since=2020-01-01&until=2026-01-01')).code, 'TOO_MANY_BUCKETS')
    assert.deepEqual([(await error('since=soon')).path, (await error('colour=red')).code], ['/since', 'UNKNOWN_FILTER'])
    const shared = await bench.gateway
      .service('figures')
      .need()
      .read({ since: NOON, until: NOON + 1, step: 'hour', group: 'none' })
    assert.equal(shared.totals.requests, 2)
  })
})
