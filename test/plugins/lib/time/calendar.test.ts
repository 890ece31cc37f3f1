import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Per } from 'guard-gateway/core'
import { PERS } from '#lib/budget'
import { isTimeZone, systemZone } from '#lib/time'
import { Calendar } from '../../../../plugins/lib/time/calendar.ts'

const HOUR = 3_600_000
const at = (text: string): number => Date.parse(text)
const iso = (time: number): string => new Date(time).toISOString().slice(0, 19)

const window = (zone: string, per: Per, text: string): readonly [start: string, end: string, hours: number] => {
  const { start, end } = new Calendar(zone).windowAt(per, at(text))
  return [iso(start), iso(end), (end - start) / HOUR]
}

describe('calendar: stretches of a time zone', () => {
  it('tells minutes, hours, days, weeks from Monday and months', () => {
    const of = (per: Per) => window('Europe/Berlin', per, '2026-03-04T12:34:56.789Z')
    assert.deepEqual(of('minute').slice(0, 2), ['2026-03-04T12:34:00', '2026-03-04T12:35:00'])
    assert.deepEqual(of('hour').slice(0, 2), ['2026-03-04T12:00:00', '2026-03-04T13:00:00'])
    assert.deepEqual(of('day').slice(0, 2), ['2026-03-03T23:00:00', '2026-03-04T23:00:00'])
    // a Monday
    assert.deepEqual(of('week').slice(0, 2), ['2026-03-01T23:00:00', '2026-03-08T23:00:00'])
    // the month in which summer time starts
    assert.deepEqual(of('month'), ['2026-02-28T23:00:00', '2026-03-31T22:00:00', 743])
  })
  it('has days of 23 and 25 hours where summer time starts and ends', () => {
    assert.deepEqual(window('Europe/Berlin', 'day', '2026-03-29T12:00:00Z'), [
      '2026-03-28T23:00:00',
      '2026-03-29T22:00:00',
      23,
    ])
    assert.deepEqual(window('Europe/Berlin', 'day', '2026-10-25T12:00:00Z'), [
      '2026-10-24T22:00:00',
      '2026-10-25T23:00:00',
      25,
    ])
    assert.deepEqual(window('Europe/Berlin', 'week', '2026-10-25T12:00:00Z')[2], 7 * 24 + 1)
    assert.deepEqual(window('America/New_York', 'day', '2026-03-08T12:00:00Z')[2], 23)
  })
  it('takes an hour that is told twice for two, and one that is left out for none', () => {
    assert.deepEqual(window('Europe/Berlin', 'hour', '2026-10-25T00:30:00Z'), [
      '2026-10-25T00:00:00',
      '2026-10-25T01:00:00',
      1,
    ])
    assert.deepEqual(window('Europe/Berlin', 'hour', '2026-10-25T01:30:00Z'), [
      '2026-10-25T01:00:00',
      '2026-10-25T02:00:00',
      1,
    ])
    assert.deepEqual(window('Europe/Berlin', 'hour', '2026-03-29T00:59:59.999Z')[1], '2026-03-29T01:00:00')
    assert.deepEqual(window('Europe/Berlin', 'hour', '2026-03-29T01:00:00Z'), [
      '2026-03-29T01:00:00',
      '2026-03-29T02:00:00',
      1,
    ])
  })
  it('starts a day whose midnight does not exist at its first instant', () => {
    // clocks go from 24:00 to 01:00
    assert.deepEqual(window('America/Sao_Paulo', 'day', '2018-11-04T12:00:00Z'), [
      '2018-11-04T03:00:00',
      '2018-11-05T02:00:00',
      23,
    ])
    assert.deepEqual(window('Asia/Beirut', 'day', '2022-03-27T12:00:00Z'), [
      '2022-03-26T22:00:00',
      '2022-03-27T21:00:00',
      23,
    ])
    assert.deepEqual(window('Africa/Cairo', 'day', '2024-04-26T12:00:00Z'), [
      '2024-04-25T22:00:00',
      '2024-04-26T21:00:00',
      23,
    ])
    // and back from 24:00 to 23:00: the day before has the hour twice
    assert.deepEqual(window('America/Sao_Paulo', 'day', '2018-02-17T12:00:00Z')[2], 25)
    assert.equal(new Calendar('America/Sao_Paulo').text(at('2018-11-04T03:00:00Z')), '2018-11-04 01:00')
  })
  it('knows zones that are half an hour or three quarters of one off, and shifts of half an hour', () => {
    assert.deepEqual(window('Asia/Kathmandu', 'hour', '2026-03-04T12:20:00Z').slice(0, 2), [
      '2026-03-04T12:15:00',
      '2026-03-04T13:15:00',
    ])
    assert.deepEqual(window('Asia/Kolkata', 'day', '2026-03-04T12:00:00Z').slice(0, 2), [
      '2026-03-03T18:30:00',
      '2026-03-04T18:30:00',
    ])
    assert.deepEqual(window('Australia/Lord_Howe', 'day', '2026-04-05T03:00:00Z')[2], 24.5)
    assert.deepEqual(window('Australia/Lord_Howe', 'hour', '2026-04-04T15:10:00Z')[2], 0.5)
    // a Friday that was left out when the date line was crossed
    assert.deepEqual(window('Pacific/Apia', 'week', '2011-12-30T12:00:00Z')[2], 6 * 24)
  })
  it('cuts time into stretches without gap or overlap, whatever the zone', () => {
    const zones = [
      'UTC',
      'Europe/Berlin',
      'America/Sao_Paulo',
      'Asia/Beirut',
      'Africa/Cairo',
      'Asia/Kathmandu',
      'Australia/Lord_Howe',
      'America/Havana',
      'Pacific/Apia',
      '+05:30',
    ]
    const calendars = new Map(zones.map((zone) => [zone, new Calendar(zone)]))
    const instant = fc.integer({ min: at('2010-01-01T00:00:00Z'), max: at('2037-12-31T00:00:00Z') })
    fc.assert(
      fc.property(fc.constantFrom(...zones), fc.constantFrom(...PERS), instant, (zone, per, time) => {
        const calendar = calendars.get(zone) ?? new Calendar()
        const { start, end } = calendar.windowAt(per, time)
        assert.ok(start <= time && time < end)
        assert.deepEqual(calendar.windowAt(per, start), { start, end })
        assert.deepEqual(calendar.windowAt(per, end - 1), { start, end })
        assert.equal(calendar.windowAt(per, end).start, end)
        assert.equal(calendar.windowAt(per, start - 1).end, start)
      }),
      { seed: 3, numRuns: 400 },
    )
  })
})

describe('calendar: zones', () => {
  it('tells which there are', () => {
    for (const zone of ['Europe/Berlin', 'UTC', 'America/Argentina/ComodRivadavia', '+05:45'])
      assert.ok(isTimeZone(zone), zone)
    for (const zone of ['Europe/Atlantis', '', 'Berlin', '+25:00', 'Europe/Berlin ', 'local'])
      assert.ok(!isTimeZone(zone), zone)
    assert.throws(() => new Calendar('Europe/Atlantis'), RangeError)
  })
  it('takes that of the system where none is named', () => {
    assert.ok(isTimeZone(systemZone()))
    assert.equal(new Calendar().zone, systemZone())
  })
})
