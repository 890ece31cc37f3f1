import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Row } from 'guard-gateway/core'
import { exactRepeat } from 'guard-gateway/plugins/detectors/exact-repeat'
import { detectorConforms } from '../../conformance/detector.ts'
import { evidence } from '../../kit/evidence.ts'

const detect = (word: string, rule = {}) => exactRepeat.detect(evidence(exactRepeat, word, { rule }))

detectorConforms(exactRepeat, evidence(exactRepeat, 'abaca'))

describe('exact_repeat: 3 in 8', () => {
  it('is silent below the threshold', () => {
    assert.equal(detect('abca'), undefined)
  })
  it('speaks at the third of the same, however many others lie between', () => {
    assert.deepEqual(detect('abaca'), {
      message: '3 identical requests in the last 5',
      evidence: 'session',
      count: 3,
      where: [{ request: 'request_0' }, { request: 'request_2' }, { request: 'request_4' }],
      results_equal: true,
    })
  })
  it('counts the request in hand as one of the eight', () => {
    assert.notEqual(detect('abcdaefa'), undefined)
    assert.equal(detect('abcdefgaa'), undefined)
  })
  it('counts repeats of this request only', () => assert.equal(detect('aaab'), undefined))
  it('takes threshold and window from the rule', () => {
    assert.notEqual(detect('aa', { threshold: 2 }), undefined)
    assert.equal(detect('abba', { threshold: 2, window_size: 3 }), undefined)
    assert.notEqual(detect('a', { threshold: 1, window_size: 0 }), undefined)
  })
  it('names at most the last 16 requests', () => {
    const finding = detect('a'.repeat(30), { window_size: 40 })
    assert.equal(typeof finding === 'object' ? finding.where?.length : 0, 16)
    assert.deepEqual(typeof finding === 'object' ? finding.where?.at(-1) : undefined, { request: 'request_29' })
  })
})

describe('exact_repeat with params', () => {
  const repeated = (outcome: Row['outcome'], params = {}) => {
    const shown = evidence(exactRepeat, 'aaa', { rule: { params } })
    return exactRepeat.detect({ ...shown, past: shown.past.map((row) => ({ ...row, outcome })) })
  }
  it('ignore_in_flight leaves requests out that have not ended', () => {
    assert.notEqual(repeated(null), undefined)
    assert.equal(repeated(null, { ignore_in_flight: true }), undefined)
    assert.notEqual(repeated('ok', { ignore_in_flight: true }), undefined)
  })
  it('ignore_failed lets a repeat take the place of a request that failed', () => {
    for (const outcome of ['upstream_error', 'unreachable', 'truncated'] as const) {
      assert.notEqual(repeated(outcome), undefined)
      assert.equal(repeated(outcome, { ignore_failed: true }), undefined)
    }
    assert.notEqual(repeated('ok', { ignore_failed: true }), undefined)
  })
})
