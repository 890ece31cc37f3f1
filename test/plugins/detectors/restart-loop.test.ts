import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Finding, Start } from 'guard-gateway/core'
import { restartLoop } from 'guard-gateway/plugins/detectors/restart-loop'
import { detectorConforms } from '../../conformance/detector.ts'
import { conversation, step, user } from '../../kit/conversation.ts'
import { call, evidence } from '../../kit/evidence.ts'
import { NOON } from '../../kit/settled.ts'

const MINUTE = 60_000

/** Starts a minute apart, the newest first: `.` ended without new work, `f` its requests failed, `w` brought something new, `o` is under way. */
const starts = (word: string, apart = MINUTE): readonly Start[] =>
  [...word].map((letter, index) => ({
    session_id: `ses_${index}`,
    request_id: `request_${index}`,
    at: NOON - (index + 1) * apart,
    ended_at: letter === 'o' ? null : NOON - (index + 1) * apart + 1000,
    requests: 2,
    failed: letter === 'f' ? 2 : 0,
    fresh: letter === 'w' ? 3 : 0,
  }))

const detect = (word: string, rule = {}, apart = MINUTE) =>
  restartLoop.detect(evidence(restartLoop, 'a', { starts: starts(word, apart), rule })) as Finding | undefined

detectorConforms(restartLoop, evidence(restartLoop, 'a', { starts: starts('.....') }))

describe('restart_loop: 5 in 60 minutes', () => {
  it('speaks when the last five starts ended without new work', () => {
    assert.deepEqual(detect('..f..'), {
      message: 'the same beginning came in 5 starts of the last 60 minutes, of which none brought anything new',
      evidence: 'session',
      count: 5,
      where: [4, 3, 2, 1, 0].map((n) => ({ request: `request_${n}` })),
    })
    assert.equal(detect('.......')?.count, 7)
  })
  it('is silent of fewer, and where one of them brought something new', () => {
    assert.equal(detect('....'), undefined)
    assert.equal(detect('....w.....'), undefined)
    assert.equal(detect('w.........'), undefined)
  })
  it('passes over those under way, which say nothing yet', () => {
    assert.equal(detect('o....'), undefined)
    assert.equal(detect('o..o...')?.count, 5)
  })
  it('counts those of its minutes alone', () => {
    assert.equal(detect('.....', {}, 13 * MINUTE), undefined)
    assert.equal(detect('.....', { params: { minutes: 65 } }, 13 * MINUTE)?.count, 5)
    assert.equal(detect('........', { params: { minutes: 5 }, threshold: 3 })?.count, 5)
  })
  it('takes its threshold', () => {
    assert.equal(detect('..', { threshold: 3 }), undefined)
    assert.equal(detect('...', { threshold: 3 })?.count, 3)
    assert.equal(restartLoop.reachable?.({ ...evidence(restartLoop, 'a').rule, threshold: 33 } as never), false)
  })
  it('says nothing of a request that is no start', () => {
    assert.equal(restartLoop.detect(evidence(restartLoop, 'a')), undefined)
  })
})

describe('what a start is known by', () => {
  const measure = (items: Parameters<typeof conversation>[0], tools: unknown) =>
    restartLoop.measure?.(call({ conversation: conversation(items), envelope: { tools } }), new Map())
  const tools = [{ name: 'read_file' }]

  it('is how it begins, where it offers tools and nothing is done yet', () => {
    const print = measure([user('fix it')], tools)
    assert.match(String(print), /^[0-9a-f]{32}$/)
    assert.equal(measure([user('fix it')], { any: 'form' }), print)
    assert.notEqual(measure([user('fix that')], tools), print)
  })
  it('is nothing without tools, or in the middle of a conversation', () => {
    for (const none of [undefined, null, []]) assert.equal(measure([user('fix it')], none), '')
    assert.equal(measure([user('fix it'), ...step('read_file')], tools), '')
  })
})
