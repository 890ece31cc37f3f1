import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instantOf, timeOf } from '#lib/time'

test('a time is a UTC day or of RFC 3339, and a day of the calendar', () => {
  assert.equal(timeOf('2024-02-29'), Date.UTC(2024, 1, 29))
  assert.equal(timeOf('2026-03-01T00:30:00+01:00'), Date.UTC(2026, 1, 28, 23, 30))
  assert.equal(timeOf('2026-03-01T12:00Z'), Date.UTC(2026, 2, 1, 12))
  assert.equal(timeOf('0001-01-01'), Date.parse('0001-01-01'))
  const none = [
    '2026-02-29',
    '2026-02-31T00:00:00Z',
    '2026-04-31',
    '2026-00-01',
    '2026-01-01T25:00:00Z',
    '2026-01-01T10:00',
  ]
  for (const text of [...none, '', '24h', 'March 3', '2026-1-1', '+002026-01-01']) assert.equal(timeOf(text), undefined)
})

test('an age counts back from now', () => {
  const now = Date.UTC(2026, 2, 1)
  assert.deepEqual(
    ['90s', '5m', '24h', '7d', '2026-02-27'].map((text) => now - (instantOf(text, now) ?? 0)),
    [90_000, 300_000, 86_400_000, 604_800_000, 172_800_000],
  )
  for (const text of ['1w', '-1h', '1.5h', '1234567d', 'h', '2026-02-30']) assert.equal(instantOf(text, now), undefined)
})

test('today and yesterday begin at midnight of a zone, also where clocks change', () => {
  const now = Date.parse('2026-03-30T10:00:00Z')
  const at = (text: string, zone: string) => new Date(instantOf(text, now, zone) ?? 0).toISOString()
  assert.equal(at('today', 'UTC'), '2026-03-30T00:00:00.000Z')
  assert.equal(at('yesterday', 'UTC'), '2026-03-29T00:00:00.000Z')
  // the day before had 23 hours in Berlin
  assert.equal(at('today', 'Europe/Berlin'), '2026-03-29T22:00:00.000Z')
  assert.equal(at('yesterday', 'Europe/Berlin'), '2026-03-28T23:00:00.000Z')
  assert.equal(at('today', 'Asia/Kolkata'), '2026-03-29T18:30:00.000Z')
  for (const text of ['Today', 'tomorrow', 'yesterday ']) assert.equal(instantOf(text, now), undefined)
})
