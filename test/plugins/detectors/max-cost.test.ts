import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Totals } from 'guard-gateway/core'
import { maxCost } from 'guard-gateway/plugins/detectors/max-cost'
import { detectorConforms } from '../../conformance/detector.ts'
import { evidence } from '../../kit/evidence.ts'

const detect = (session: Partial<Totals>, rule = {}) => maxCost.detect(evidence(maxCost, 'a', { rule, session }))

detectorConforms(maxCost, evidence(maxCost, 'a', { session: { cost_micro: 5_000_000 } }))

describe('max_cost: 5 units', () => {
  it('matches when they are spent', () => {
    assert.equal(detect({ cost_micro: 4_999_999 }), undefined)
    assert.deepEqual(detect({ cost_micro: 5_250_000 }), {
      message: 'the session has cost 5.25 of 5.00',
      evidence: 'budget',
      count: 5_250_000,
    })
  })
  it('says how many requests it could not count', () => {
    const said = (unpriced: number) =>
      (detect({ cost_micro: 5_000_000, unpriced }) as { message: string }).message.split('; ')[1]
    assert.deepEqual([0, 1, 7].map(said), [
      undefined,
      '1 request without a price not counted',
      '7 requests without a price not counted',
    ])
  })
  it('tells small amounts to the millionth', () => {
    assert.equal(
      (detect({ cost_micro: 12 }, { threshold: 10 }) as { message: string }).message,
      'the session has cost 0.000012 of 0.000010',
    )
  })
  it('with reserve holds what requests under way will cost at the price of the session so far', () => {
    const underWay = { cost_micro: 4_000_000, tokens: 1_000, reserved: 250 }
    assert.equal(detect(underWay), undefined)
    assert.deepEqual(detect(underWay, { params: { reserve: true } }), {
      message: 'the session has cost 5.00 of 5.00, 1.00 of it held by requests under way',
      evidence: 'budget',
      count: 5_000_000,
    })
    assert.equal(detect({ cost_micro: 0, tokens: 0, reserved: 9e9 }, { params: { reserve: true } }), undefined)
  })
})
