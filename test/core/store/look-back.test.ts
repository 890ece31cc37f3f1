import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LookBack } from 'guard-gateway/core'

const NEWEST = 1_000_000
const furthest = (lookBack: LookBack): number => {
  let at = NEWEST
  while (lookBack.reaches(at - 1)) at--
  return NEWEST - at
}

describe('a look back', () => {
  it('reaches 5 s behind the newest record, and behind each that sums do not hold, but never behind 30 s', () => {
    const lookBack = new LookBack(NEWEST)
    assert.equal(furthest(lookBack), 5_000)
    lookBack.behind(NEWEST - 4_000)
    assert.equal(furthest(lookBack), 9_000)
    lookBack.behind(NEWEST - 1_000)
    assert.equal(furthest(lookBack), 9_000)
    lookBack.behind(NEWEST - 28_000)
    assert.equal(furthest(lookBack), 30_000)
  })
})
