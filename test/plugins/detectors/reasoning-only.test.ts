import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Ended, Finding } from 'guard-gateway/core'
import { reasoningOnly } from 'guard-gateway/plugins/detectors/reasoning-only'
import { detectorConforms } from '../../conformance/detector.ts'
import { evidence, outcomes } from '../../kit/evidence.ts'
import { NOON } from '../../kit/settled.ts'

/** `r` a reply that only reasoned; else as `outcomes` has it. */
const replies = (word: string): Ended[] =>
  outcomes(word.replaceAll('r', '.')).map((ended, index) =>
    word[index] === 'r' ? { ...ended, wordless: true } : ended,
  )

const shown = (word: string, at = NOON + 1000, rule = {}) =>
  evidence(reasoningOnly, 'a', { rule, at, session: { outcomes: replies(word) } })
const detect = (word: string, at?: number, rule = {}) =>
  reasoningOnly.detect(shown(word, at, rule)) as Finding | undefined

detectorConforms(reasoningOnly, shown('rrr'))

describe('reasoning_only: 3 in a row', () => {
  it('speaks before the fourth', () => {
    assert.equal(detect('rr'), undefined)
    assert.deepEqual(detect('.rrr'), {
      message: '3 replies in a row only reasoned: they ended without a word and without a call',
      evidence: 'outcomes',
      count: 3,
      where: [{ request: 'request_1' }, { request: 'request_2' }, { request: 'request_3' }],
    })
  })
  it('is ended by a reply that says something, not by one that never came', () => {
    assert.equal(detect('rr.r'), undefined)
    assert.equal(detect('rr~rE')?.count, 3)
  })
  it('lets who waits a minute ask again', () => {
    assert.equal(detect('rrr', NOON + 60_000)?.count, 3)
    assert.equal(detect('rrr', NOON + 60_001), undefined)
  })
  it('counts as many as its rule says', () => {
    assert.equal(detect('rrrr', undefined, { threshold: 5 }), undefined)
    assert.equal(detect('rrrrr', undefined, { threshold: 5 })?.count, 5)
  })
})
