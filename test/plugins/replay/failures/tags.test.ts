import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bestTag, evidenceOfSpan, noTags, withEvidence } from '../../../../plugins/replay/failures/tags.ts'
import { aSpan } from '../../../kit/traces.ts'
import { best, tagOf } from '../failure-cases.ts'

describe('the best tag', () => {
  const loop = { id: 'l', name: 'loop.detected', start_ns: 50n }
  const slow = { id: 't', name: 'step', status: 'timeout', start_ns: 10n }
  it('depends on the order of tags, not on time', () => {
    const limit = { name: 'step', start_ns: 1n, attributes: { 'http.response.status_code': 429 } }
    const blocked = { name: 'step', start_ns: 2n, status: 'blocked' }
    const test = { name: 'test', start_ns: 3n, status: 'error' }
    const spans = [test, blocked, limit, slow, loop]
    const order = spans.map((_, count) => tagOf({ spans: spans.slice(0, count + 1) }))
    assert.deepEqual(order, ['test_failure', 'policy_block', 'rate_limit', 'timeout', 'loop'])
  })

  it('has the earliest record as evidence, in any order of arrival', () => {
    const later = { ...slow, id: 'u', start_ns: 11n }
    for (const spans of [
      [slow, later],
      [later, slow],
    ]) {
      assert.deepEqual(best({ spans })?.evidence, { rule: 'status', span_id: 't', event_id: null, field: 'status' })
    }
  })

  it('names event and span, rule and field', () => {
    const events = [{ id: 'e', span_id: 's', name: 'policy.decision', attributes: { decision: 'deny' } }]
    assert.deepEqual(best({ events })?.evidence, {
      rule: 'decision',
      span_id: 's',
      event_id: 'e',
      field: 'attributes.decision',
    })
    assert.deepEqual(best({ status: 'timeout' })?.evidence, {
      rule: 'status',
      span_id: null,
      event_id: null,
      field: 'status',
    })
  })

  it('is null without evidence, also in a failed run', () => {
    assert.equal(best({ spans: [{}, { status: 'error', name: 'gen_ai.request' }], status: 'error' }), null)
    assert.equal(evidenceOfSpan(aSpan()), undefined)
    assert.equal(withEvidence(noTags, undefined), noTags)
  })

  it('is unchanged after the state was stored as JSON', () => {
    const state = withEvidence(noTags, evidenceOfSpan(aSpan({ ...slow, start_ns: 5n })))
    const kept = JSON.parse(JSON.stringify(state, (_, value) => (typeof value === 'bigint' ? Number(value) : value)))
    const later = withEvidence(kept, evidenceOfSpan(aSpan({ ...slow, id: 'later', start_ns: 6n })))
    assert.equal(bestTag(later, { status: 'ok', attributes: {} })?.evidence.span_id, 't')
  })
})
