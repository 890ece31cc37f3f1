import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { maxRequests } from 'guard-gateway/plugins/detectors/max-requests'
import { detectorConforms } from '../../conformance/detector.ts'
import { evidence } from '../../kit/evidence.ts'

const detect = (requests: number, rule = {}) =>
  maxRequests.detect(evidence(maxRequests, 'a', { rule, session: { requests } }))

detectorConforms(maxRequests, evidence(maxRequests, 'a', { session: { requests: 50 } }))

describe('max_requests: 50', () => {
  it('lets fifty pass and matches the fifty-first', () => {
    assert.equal(detect(49), undefined)
    assert.deepEqual(detect(50), {
      message: 'the session has sent 50 of 50 requests',
      evidence: 'budget',
      count: 50,
    })
  })
  it('takes its threshold from the rule', () => assert.notEqual(detect(2, { threshold: 2 }), undefined))
  it('with reserve lets those that failed give their place back', () => {
    const session = { requests: 52, failed: 2 }
    const reserving = (over: object) =>
      maxRequests.detect(
        evidence(maxRequests, 'a', { rule: { params: { reserve: true } }, session: { ...session, ...over } }),
      )
    assert.equal(reserving({ failed: 3 }), undefined)
    assert.deepEqual(reserving({}), {
      message: 'the session has sent 50 of 50 requests, 2 that failed not counted',
      evidence: 'budget',
      count: 50,
    })
  })
  it('says of what it counts the requests', () => {
    assert.deepEqual(detect(50, { params: { scope: 'thread' } }), {
      message: 'the thread has sent 50 of 50 requests',
      evidence: 'budget',
      count: 50,
    })
  })
})
