import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { comparedOf, periodOf } from '../../../../plugins/recorder/chart/period.ts'

const NOW = Date.UTC(2026, 10, 26, 14, 25, 30)
const HOUR = 3_600_000
const DAY = 24 * HOUR

const period = (query: string, now = NOW, isList = true) => periodOf(new URLSearchParams(query), now, isList)
const text = (at = Number.NaN) => new Date(at).toISOString().slice(0, 16)

describe('the time of charts', () => {
  it('is the last hour, day, week or month in whole bars, the last of which has not ended', () => {
    const told = (query: string) => {
      const { since, until, bars, step } = period(query) ?? {}
      return [text(since), text(until), bars, step]
    }
    assert.deepEqual(told('range=1h'), ['2026-11-26T13:26', '2026-11-26T14:26', 60, 'minute'])
    assert.deepEqual(told('range=24h'), ['2026-11-25T15:00', '2026-11-26T15:00', 24, 'hour'])
    assert.deepEqual(told('range=7d'), ['2026-11-19T18:00', '2026-11-26T18:00', 28, '6h'])
    assert.deepEqual(told('range=30d'), ['2026-10-28T00:00', '2026-11-27T00:00', 30, 'day'])
    for (const query of ['', 'range=', 'range=9999999h', 'range=toString', 'since=24h', 'since=&until='])
      assert.deepEqual(told(query), told('range=24h'), query)
  })
  it('is that of the list, in bars that fit it', () => {
    const told = (query: string) => {
      const { bars, step, isCut } = period(query) ?? {}
      return [bars, step, isCut]
    }
    assert.deepEqual(told('since=2026-11-20T10:00Z&until=2026-11-20T11:00Z'), [60, 'minute', false])
    assert.deepEqual(told('since=15m'), [16, 'minute', false])
    assert.deepEqual(told('since=2026-11-20T10:30Z&until=2026-11-20T22:00Z'), [12, 'hour', false])
    assert.deepEqual(told('since=2026-11-20&until=2026-11-25'), [20, '6h', false])
    assert.deepEqual(told('since=2026-11-01&until=2026-11-25'), [24, 'day', false])
    assert.deepEqual(told('since=1795557600000000000&until=1795561200000000000'), [60, 'minute', false])
    assert.equal(period('since=2026-11-20&until=2026-11-21', NOW, false)?.range, '24h', 'other pages have no such time')
  })
  it('is at most 31 days, the last of a longer time', () => {
    for (const query of [
      'since=1970-01-01',
      'since=999999h',
      'since=999999d',
      'until=2026-11-26',
      'since=0001-01-01',
    ]) {
      const found = period(query)
      assert.ok(found?.isCut, query)
      assert.ok(found.bars <= 32 && found.until - found.since <= 32 * DAY, query)
      assert.ok(found.until <= NOW + DAY, query)
    }
  })
  it('is none where the list has none', () => {
    for (const query of [
      'since=soon',
      'until=never',
      'since=2026-11-26&until=2026-11-25',
      'since=2026-11-26&until=2026-11-26',
      'since=2026-02-30',
      'since=9999-12-31',
      'until=1969-12-31',
      'since=9999999999999999999',
    ])
      assert.ok((period(query)?.bars ?? 1) >= 1 && (period(query)?.since ?? 0) <= Date.UTC(9999, 11, 30), query)
    assert.equal(period('since=soon'), undefined)
    assert.equal(period('since=2026-11-26&until=2026-11-25'), undefined)
  })
  it('may lie after now, where a clock has been set back', () => {
    const { since, until } = period('since=2026-11-28T10:00Z&until=2026-11-28T11:00Z') ?? {}
    assert.deepEqual([text(since), text(until)], ['2026-11-28T10:00', '2026-11-28T11:00'])
    assert.ok((period('range=24h', 0)?.bars ?? 0) === 24, 'a clock that is not set')
  })
})

describe('what the time is compared with', () => {
  it('are its bars that have ended, and as many before', () => {
    const of = (query: string) => {
      const found = period(query)
      const { since, until } = (found && comparedOf(found)) ?? {}
      return [text(since), text(until)]
    }
    assert.deepEqual(of('range=24h'), ['2026-11-24T16:00', '2026-11-26T14:00'])
    assert.deepEqual(of('range=30d'), ['2026-09-29T00:00', '2026-11-26T00:00'])
    assert.deepEqual(of('since=2026-11-20&until=2026-11-21'), ['2026-11-19T00:00', '2026-11-21T00:00'])
  })
  it('is nothing for minutes, nor before 1970', () => {
    for (const [query, now] of [
      ['range=1h', NOW],
      ['range=30d', 31 * DAY],
    ] as const) {
      const found = period(query, now)
      assert.equal(found && comparedOf(found), undefined)
    }
  })
})
