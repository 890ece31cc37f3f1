import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Finding } from 'guard-gateway/core'
import { errorRetry } from 'guard-gateway/plugins/detectors/error-retry'
import { detectorConforms } from '../../conformance/detector.ts'
import { evidence, outcomes } from '../../kit/evidence.ts'
import { NOON } from '../../kit/settled.ts'

const detect = (word: string, rule = {}, after = 0, probe_open = false) =>
  errorRetry.detect(
    evidence(errorRetry, 'a', { rule, at: NOON + after, session: { outcomes: outcomes(word), probe_open } }),
  ) as Finding | undefined

detectorConforms(errorRetry, evidence(errorRetry, 'a', { session: { outcomes: outcomes('EEEEE') } }))

describe('error_retry: 5 in a row', () => {
  it('lets five pass and matches the sixth', () => {
    assert.equal(detect('EEEE'), undefined)
    assert.deepEqual(detect('EEEEE'), {
      message: 'the same upstream error came 5 times in a row; one request may try again in 60 s',
      evidence: 'outcomes',
      count: 5,
      where: [0, 1, 2, 3, 4].map((index) => ({ request: `request_${index}` })),
      results_equal: true,
      probe: false,
    })
  })
  it('starts over at a success or another error', () => {
    assert.equal(detect('EEEE.E'), undefined)
    assert.equal(detect('EEEEFE'), undefined)
    assert.equal(detect('EEEEE.'), undefined)
    assert.equal(detect('FFFFFEEEEE')?.count, 5)
  })
  it('looks past requests that say nothing of the upstream', () => {
    assert.equal(detect('E~E|EE_E~')?.count, 5)
    assert.equal(detect('~~~~~~'), undefined)
  })
  it('takes its threshold from the rule, and ignores the window', () => {
    assert.equal(detect('EE', { threshold: 2, window_size: 1 })?.count, 2)
  })
})

describe('error_retry: half-open', () => {
  it('lets one request pass when the cool-down is over', () => {
    assert.equal(detect('EEEEE', {}, 59_999)?.probe, false)
    assert.equal(detect('EEEEE', {}, 60_000)?.probe, true)
  })
  it('keeps the others waiting until the probe has ended', () => {
    assert.equal(detect('EEEEE', {}, 60_000, true)?.probe, false)
  })
  it('takes the length of the cool-down from its param', () => {
    const rule = { params: { cooldown_seconds: 5 } }
    assert.equal(detect('EEEEE', rule, 4999)?.probe, false)
    assert.equal(detect('EEEEE', rule, 5000)?.probe, true)
  })
  it('says how long that takes, and who tries', () => {
    assert.match(detect('EEEEE', {}, 58_500)?.message ?? '', /; one request may try again in 2 s$/)
    assert.match(detect('EEEEE', {}, 60_000)?.message ?? '', /; this request tries whether it is over$/)
    assert.match(detect('EEEEE', {}, 60_000, true)?.message ?? '', /; one request is trying whether it is over$/)
  })
  it('counts the cool-down from the last error, not from what came after it', () => {
    assert.equal(detect('EEEEE~', {}, 59_000)?.probe, true)
  })
})
