import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { duration, median, printTable } from 'guard-gateway/bench'

describe('printTable', () => {
  it('aligns the first column to the left, all others to the right', () => {
    assert.equal(
      printTable(
        ['name', 'n'],
        [
          ['a', '1'],
          ['longer', '100'],
        ],
      ),
      'name      n\n------  ---\na         1\nlonger  100',
    )
  })
})

describe('duration', () => {
  it('chooses the unit', () => {
    assert.deepEqual([12.345, 0.5, 0.000_05].map(duration), ['12.35 ms', '500.00 µs', '50 ns'])
  })
})

describe('median', () => {
  it('is the middle value, or the mean of the two middle values', () => {
    assert.equal(median([9, 1, 5]), 5)
    assert.equal(median([4, 1, 2, 100]), 3)
    assert.ok(Number.isNaN(median([])))
  })
})
