import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Finding } from 'guard-gateway/core'
import { maxTokens } from 'guard-gateway/plugins/detectors/max-tokens'
import { detectorConforms } from '../../conformance/detector.ts'
import { evidence } from '../../kit/evidence.ts'

const detect = (tokens: number, reserved = 0, rule = {}) =>
  maxTokens.detect(evidence(maxTokens, 'a', { rule, session: { tokens, reserved } }))

detectorConforms(maxTokens, evidence(maxTokens, 'a', { session: { tokens: 100_000 } }))

describe('max_tokens: 100,000', () => {
  it('matches when they are used up', () => {
    assert.equal(detect(99_999), undefined)
    assert.deepEqual(detect(100_000), {
      message: 'the session has used 100000 of 100000 tokens',
      evidence: 'budget',
      count: 100_000,
    })
  })
  it('names the conversation where each is counted by itself', () => {
    const { message } = detect(100_000, 0, { params: { scope: 'thread' } }) as Finding
    assert.equal(message, 'the thread has used 100000 of 100000 tokens')
  })
  it('leaves tokens under way out', () => assert.equal(detect(99_000, 5000), undefined))
  it('counts them with reserve', () => {
    const reserve = { params: { reserve: true } }
    assert.equal(detect(94_999, 5000, reserve), undefined)
    assert.deepEqual(detect(95_000, 5000, reserve), {
      message: 'the session has used 100000 of 100000 tokens, 5000 of them held by requests under way',
      evidence: 'budget',
      count: 100_000,
    })
  })
})
