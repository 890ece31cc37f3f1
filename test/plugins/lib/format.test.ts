import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesText, costText, countText, durationText, timeText } from '#lib/format'

const table = <T>(name: string, write: (value: T) => string, cases: readonly (readonly [T, string])[]) =>
  test(name, () => {
    for (const [value, text] of cases) assert.equal(write(value), text)
  })

table<bigint | number>('durations have the unit that people would say', durationText, [
  [0n, '0 ns'],
  [340n, '340 ns'],
  [1_200n, '1.2 µs'],
  [999_999n, '999 µs'],
  [1_200_000n, '1.2 ms'],
  [412_000_000n, '412 ms'],
  [999_999_999n, '999 ms'],
  [12_400_000_000n, '12.4 s'],
  [59_949_000_000n, '59.9 s'],
  [59_960_000_000n, '1 min 00 s'],
  [185_000_000_000n, '3 min 05 s'],
  [3_599_600_000_000n, '1 h 00 min'],
  [7_440_000_000_000n, '2 h 04 min'],
  [-2_100_000_000n, '−2.1 s'],
])

table<bigint | number>('counts are shortened from a thousand on', countText, [
  [0, '0'],
  [812, '812'],
  [8_100n, '8.1k'],
  [999_499, '999k'],
  [999_500, '1.0M'],
  [1_234_567, '1.2M'],
  [2_000_000_000n, '2.0G'],
])

table<bigint | number>('bytes have decimal units', bytesText, [
  [900, '900 B'],
  [2_100, '2.1 kB'],
  [999_960, '1.0 MB'],
  [1_100_000_000, '1.1 GB'],
])

table<bigint | number>('costs have four significant digits', costText, [
  [0, '0'],
  [21_000, '0.021'],
  [12_345_678n, '12.35'],
  [1, '0.000001'],
  [2_500_000_000, '2500'],
])

test('a time shows its date only where it is not today', () => {
  const now = Date.parse('2026-03-02T12:00:00Z')
  assert.equal(timeText(now, now), '12:00:00')
  assert.equal(timeText(now - 86_400_000, now), '2026-03-01 12:00:00')
})
