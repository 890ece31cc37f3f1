import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Row } from 'guard-gateway/core'
import { exactRepeat } from 'guard-gateway/plugins/detectors/exact-repeat'
import { detectorConforms } from '../../conformance/detector.ts'
import { conversation, step } from '../../kit/conversation.ts'
import { call, evidence } from '../../kit/evidence.ts'
import { aSession, NOON } from '../../kit/settled.ts'

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
  it('ignore_aborted lets a client send again what it did not wait for', () => {
    for (const outcome of ['client_aborted', 'interrupted'] as const) {
      assert.notEqual(repeated(outcome, { ignore_failed: true, ignore_in_flight: true }), undefined)
      assert.equal(repeated(outcome, { ignore_aborted: true }), undefined)
    }
    for (const outcome of ['ok', 'upstream_error'] as const)
      assert.notEqual(repeated(outcome, { ignore_aborted: true }), undefined)
  })
  it('within_seconds counts the last so many seconds, and says so', () => {
    const shown = evidence(exactRepeat, 'aaa', { rule: { params: { within_seconds: 60 } }, at: NOON })
    const detect = (...ages: number[]) =>
      exactRepeat.detect({ ...shown, past: shown.past.map((row, n) => ({ ...row, at: NOON - (ages[n] ?? 0) })) })
    assert.equal(detect(1_000, 60_001), undefined)
    const found = detect(1_000, 60_000)
    assert.ok(typeof found === 'object')
    assert.equal(found.message, '3 identical requests in the last 60 s')
  })
  it('reset_on_user_message counts from the request that brought the last one', () => {
    const shown = evidence(exactRepeat, 'abaa', { rule: { params: { reset_on_user_message: true } } })
    const spoken = (at: number) => shown.past.map((row, n) => ({ ...row, root: false, user_first: n === at }))
    assert.notEqual(exactRepeat.detect({ ...shown, past: spoken(-1) }), undefined)
    assert.notEqual(exactRepeat.detect({ ...shown, past: spoken(2) }), undefined)
    assert.equal(exactRepeat.detect({ ...shown, past: spoken(1) }), undefined)
    const row = { ...shown.row, root: false, user_first: true }
    assert.equal(exactRepeat.detect({ ...shown, row, past: spoken(-1) }), undefined)
  })
})

describe('exact_repeat with ignore_fresh_starts', () => {
  const params = { ignore_fresh_starts: true, ignore_failed: true, ignore_aborted: true }
  const derived = aSession({ external_source: 'derived' })

  /** Letters are requests; one goes on from the newest of the letter that stands before it in the alphabet, `a` from nothing. */
  const rowsOf = (word: string, outcomes: Readonly<Record<number, Row['outcome']>> = {}): Row[] => {
    const { row, past } = evidence(exactRepeat, word)
    const rows: Row[] = []
    for (const [index, one] of [...past].reverse().concat(row).entries()) {
      const before = String.fromCharCode(word.charCodeAt(index) - 1)
      const parent = rows[word.lastIndexOf(before, index - 1)]?.id ?? null
      const newest = word.lastIndexOf(word.charAt(index), index - 1)
      const own = newest === -1 || newest < word.lastIndexOf(before, index - 1) ? parent : rows[newest]?.id
      const outcome = outcomes[index] ?? 'ok'
      rows.push({ ...one, root: word[index] === 'a', parent: word[index] === 'a' ? null : (own ?? parent), outcome })
    }
    return rows
  }
  const counted = (word: string, outcomes = {}, session = derived, over: Partial<Row> = {}): number => {
    const shown = evidence(exactRepeat, word, { rule: { threshold: 1, window_size: 8, params } })
    const rows = rowsOf(word, outcomes)
    const row = { ...(rows.pop() ?? shown.row), ...over }
    const found = exactRepeat.detect({ ...shown, call: call({ session }), row, past: rows.reverse() })
    return typeof found === 'object' ? (found.count ?? 0) : 0
  }

  it('counts no beginnings, however many', () => {
    assert.equal(counted('aaaaaaaa'), 1)
    assert.equal(counted('abcabcabca'), 1)
  })
  it('counts them where the client names the session, where calls came before, and behind an unknown reply', () => {
    assert.equal(counted('aaa', {}, aSession({ external_source: 'x-session-id' })), 3)
    assert.equal(counted('aaa', {}, derived, { new_turns: conversation(step('read')).turns }), 3)
    const shown = evidence(exactRepeat, 'aaa', { rule: { params } })
    const asked = call({ session: derived, envelope: { previous_response_id: 'resp_1' } })
    assert.notEqual(exactRepeat.detect({ ...shown, call: asked }), undefined)
  })
  it('lets a request follow as often as the one before it was sent', () => {
    for (const word of ['aaabbb', 'ababab', 'aaabbbccc', 'aababb', 'aaacbb']) assert.equal(counted(word), 1, word)
    assert.deepEqual(
      ['abb', 'abbb', 'aabbb', 'ababb', 'ababbb'].map((word) => counted(word)),
      [2, 3, 2, 2, 3],
    )
  })
  it('takes the attempts of a request for one', () => {
    for (const outcome of ['upstream_error', 'client_aborted'] as const) {
      assert.equal(counted('aaaabbb', { 0: outcome, 1: outcome, 2: outcome }), 3)
      assert.equal(counted('abbbb', { 1: outcome, 2: outcome }), 2)
    }
    assert.equal(counted('abbb', { 0: 'client_aborted' }), 3)
  })
  it('counts what comes before it only while that is remembered', () => assert.equal(counted('bbb'), 3))
  it('keeps subagents apart that have ids', () => {
    const shown = evidence(exactRepeat, 'aaa', { rule: { params } })
    const past = (...threads: string[]) => shown.past.map((row, n) => ({ ...row, thread: threads[n] ?? '' }))
    const row = { ...shown.row, thread: 'request_0~1f' }
    assert.notEqual(exactRepeat.detect({ ...shown, row, past: past('request_0~1f', 'request_1~1f') }), undefined)
    assert.equal(exactRepeat.detect({ ...shown, row, past: past('request_0~1f', 'request_1~2e') }), undefined)
    assert.equal(exactRepeat.detect({ ...shown, row, past: past('request_0~1f', 'request_1') }), undefined)
  })
})
