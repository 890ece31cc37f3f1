import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Finding } from 'guard-gateway/core'
import { sequenceRepeat } from 'guard-gateway/plugins/detectors/sequence-repeat'
import { detectorConforms } from '../../conformance/detector.ts'
import { called, conversation, type Item, result, says, step, turn, user } from '../../kit/conversation.ts'
import { call, evidence } from '../../kit/evidence.ts'
import { aSession } from '../../kit/settled.ts'

const requests = (word: string, rule = {}) =>
  sequenceRepeat.detect(evidence(sequenceRepeat, word, { rule })) as Finding | undefined
const turnsOf = (items: readonly Item[], rule = {}) =>
  sequenceRepeat.detect(evidence(sequenceRepeat, 'a', { rule, turns: conversation(items).turns })) as
    | Finding
    | undefined
/** A turn with one call a letter. */
const turns = (word: string, rule = {}) =>
  turnsOf(
    [...word].flatMap((letter) => step(letter)),
    rule,
  )
const aware = { params: { result_aware: true } }

detectorConforms(sequenceRepeat, evidence(sequenceRepeat, 'abababab'))

describe('sequence_repeat over requests: 3 repetitions in 15', () => {
  it('speaks for each period from 2 to 5', () => {
    for (const unit of ['ab', 'abc', 'abcd', 'abcde']) {
      assert.equal(requests(unit.repeat(3))?.message, `a sequence of ${unit.length} requests was repeated 3 times`)
      assert.equal(requests(unit.repeat(3).slice(1)), undefined)
    }
  })
  it('leaves period 1 and a sixth to other rules', () => {
    assert.equal(requests('aaaaaaaaaaaaaaa'), undefined)
    assert.equal(requests('abcdef'.repeat(3), { window_size: 40 }), undefined)
  })
  it('does not take a repetition for a unit', () => {
    assert.match(requests('abab'.repeat(3))?.message ?? '', /^a sequence of 2 /)
    assert.equal(requests('aabaab'), undefined)
    assert.match(requests('aabaabaab')?.message ?? '', /^a sequence of 3 /)
  })
  it('breaks at anything else inside, and ends at this request', () => {
    assert.equal(requests('ababxab'), undefined)
    assert.equal(requests('abababx'), undefined)
    assert.notEqual(requests('xyzababab'), undefined)
  })
  it('keeps to the window', () => {
    assert.equal(requests('abababab', { threshold: 4, window_size: 7 }), undefined)
    assert.notEqual(requests('abababab', { threshold: 4, window_size: 8 }), undefined)
  })
  it('names the requests, and calls their results equal', () => {
    const finding = requests('ababab')
    assert.deepEqual(finding?.where?.at(0), { request: 'request_0' })
    assert.deepEqual(finding?.where?.at(-1), { request: 'request_5' })
    assert.equal(finding?.results_equal, true)
    assert.equal(finding?.evidence, 'session')
  })
})

describe('sequence_repeat over turns', () => {
  it('speaks for a cycle of calls', () => {
    const finding = turns('xyzyzyz')
    assert.equal(finding?.message, 'a sequence of 2 tool turns was repeated 3 times')
    assert.equal(finding?.evidence, 'history')
    assert.deepEqual(
      finding?.where,
      [-6, -5, -4, -3, -2, -1].map((turn) => ({ turn })),
    )
  })
  it('compares turns as sets of calls', () => {
    const both = (one: string, other: string): Item[] => {
      const calls = [called(one), called(other)]
      return [turn(...calls), ...calls.map((call) => result(call.id, 'x'))]
    }
    const cycle = [both('p', 'q'), step('r'), both('q', 'p'), step('r'), both('p', 'q'), step('r')]
    assert.notEqual(turnsOf(cycle.flat()), undefined)
  })
  it('breaks at a turn of words', () => {
    assert.equal(
      turnsOf([...'abab'].flatMap((letter) => step(letter)).concat(says('hm'), step('a'), step('b'))),
      undefined,
    )
    const words = [says('1'), says('2'), says('1'), says('2'), says('1'), says('2')]
    assert.equal(turnsOf(words), undefined)
  })
  it('breaks at a user message, also one after the last turn', () => {
    const cycle = [...'ababab'].flatMap((letter) => step(letter))
    assert.equal(turnsOf([...cycle, user('stop')]), undefined)
    assert.equal(turnsOf([...cycle.slice(0, 4), user('go on'), ...cycle.slice(4)]), undefined)
    assert.notEqual(turnsOf([user('a'), ...cycle]), undefined)
  })
  it('says whether the results were equal', () => {
    const cycle = (...texts: string[]) => texts.flatMap((text, index) => step(index % 2 === 0 ? 'a' : 'b', {}, text))
    assert.equal(turnsOf(cycle('x', 'y', 'x', 'y', 'x', 'y'))?.results_equal, true)
    assert.equal(turnsOf(cycle('x', 'y', 'x', 'z', 'x', 'y'))?.results_equal, false)
    assert.equal(turnsOf(cycle('x', 'y', 'x', '', 'x', 'y'))?.results_equal, null)
  })
  it('with result_aware asks for equal results that are not empty', () => {
    const cycle = (...texts: string[]) => texts.flatMap((text, index) => step(index % 2 === 0 ? 'a' : 'b', {}, text))
    assert.notEqual(turnsOf(cycle('x', 'y', 'x', 'y', 'x', 'y'), aware), undefined)
    assert.equal(turnsOf(cycle('x', 'y', 'x', 'z', 'x', 'y'), aware), undefined)
    assert.equal(turnsOf(cycle('', '', '', '', '', ''), aware), undefined)
  })
})

describe('sequence_repeat with params', () => {
  it('reset_on_user_message compares the requests since the last one', () => {
    const shown = evidence(sequenceRepeat, 'ababab', { rule: { params: { reset_on_user_message: true } } })
    const spoken = conversation([...step('x'), user('go on'), ...step('y')]).turns
    const past = (root: boolean) =>
      shown.past.map((row, index) => ({ ...row, root, new_turns: index === 1 ? spoken : [] }))
    assert.notEqual(sequenceRepeat.detect({ ...shown, past: past(true) }), undefined)
    assert.equal(sequenceRepeat.detect({ ...shown, past: past(false) }), undefined)
    const first = past(false).map((row, index) => ({ ...row, new_turns: [], user_first: index === 1 }))
    assert.equal(sequenceRepeat.detect({ ...shown, past: first }), undefined)
    const { params: _, ...literal } = shown.rule
    assert.notEqual(sequenceRepeat.detect({ ...shown, rule: literal, past: past(false) }), undefined)
  })
  it('ignore_in_flight, ignore_failed and ignore_aborted take requests out of the sequence', () => {
    const endings = {
      ignore_in_flight: [null],
      ignore_failed: ['upstream_error', 'unreachable', 'truncated'],
      ignore_aborted: ['client_aborted', 'interrupted'],
    } as const
    for (const [param, outcomes] of Object.entries(endings)) {
      const shown = evidence(sequenceRepeat, 'ababab', { rule: { params: { [param]: true } } })
      assert.notEqual(sequenceRepeat.detect(shown), undefined)
      for (const outcome of outcomes) {
        const past = shown.past.map((row, index) => (index === 2 ? { ...row, outcome } : row))
        assert.equal(sequenceRepeat.detect({ ...shown, past }), undefined)
      }
      // what failed in between parts nothing
      const between = evidence(sequenceRepeat, 'abaabab', { rule: { params: { [param]: true } } })
      const past = between.past.map((row, index) => (index === 3 ? { ...row, outcome: outcomes[0] } : row))
      assert.equal(sequenceRepeat.detect(between), undefined)
      assert.notEqual(sequenceRepeat.detect({ ...between, past }), undefined)
    }
  })
  it('ignore_fresh_starts ends a sequence where its conversation began, if nothing else tells the session', () => {
    const shown = evidence(sequenceRepeat, 'ababab', { rule: { params: { ignore_fresh_starts: true } } })
    const past = shown.past.map((row, index) => ({ ...row, root: index % 2 === 0 }))
    const asked = (external_source: string) => call({ session: aSession({ external_source }) })
    const row = { ...shown.row, root: false }
    assert.equal(sequenceRepeat.detect({ ...shown, call: asked('derived'), row, past }), undefined)
    assert.notEqual(sequenceRepeat.detect({ ...shown, call: asked('x-session-id'), row, past }), undefined)
    const going = shown.past.map((one, index) => ({ ...one, root: index === 4 }))
    assert.notEqual(sequenceRepeat.detect({ ...shown, call: asked('derived'), row, past: going }), undefined)
    const others = shown.past.map((one, index) => ({ ...one, thread: index === 1 ? 'request_0~2e' : one.thread }))
    assert.equal(sequenceRepeat.detect({ ...shown, call: asked('x-session-id'), row, past: others }), undefined)
  })
  it('exempt_tools do not count beside other calls, and alone break a sequence', () => {
    const exempt = { params: { exempt_tools: ['note*'] } }
    let n = 0
    const both = (tool: string): Item[] => [turn(called(tool), called('note', { n: ++n }))]
    const noted = ['a', 'b', 'a', 'b', 'a', 'b'].flatMap(both)
    assert.equal(turnsOf(noted), undefined)
    assert.equal(turnsOf(noted, exempt)?.count, 3)
    const parted = [...step('a'), ...step('b'), ...step('note'), ...step('a'), ...step('b'), ...step('a'), ...step('b')]
    assert.equal(turnsOf(parted, exempt), undefined)
  })
})

describe('sequence_repeat and waiting', () => {
  const poll = [...step('Bash', { command: 'sleep 30' }, ''), ...step('TaskOutput', { id: 1 }, 'running')]
  it('takes polls that go round for no circle where results count', () => {
    assert.equal(turnsOf(Array.from({ length: 6 }, () => poll).flat(), aware), undefined)
    assert.notEqual(turnsOf(Array.from({ length: 3 }, () => poll).flat()), undefined)
  })
})
