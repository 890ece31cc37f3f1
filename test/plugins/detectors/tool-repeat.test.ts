import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Finding, Row } from 'guard-gateway/core'
import { toolRepeat } from 'guard-gateway/plugins/detectors/tool-repeat'
import { detectorConforms } from '../../conformance/detector.ts'
import { called, conversation, type Item, keyOf, result, says, step, turn, user } from '../../kit/conversation.ts'
import { evidence, type Given } from '../../kit/evidence.ts'
import { aRow } from '../../kit/settled.ts'

const shown = (items: readonly Item[], given: Given<NonNullable<typeof toolRepeat.params>> = {}) =>
  evidence(toolRepeat, 'a', { turns: conversation(items).turns, ...given })
const inHistory = (items: readonly Item[], rule = {}) =>
  toolRepeat.detect(shown(items, { rule })) as Finding | undefined

const read = (text = 'same') => step('read_file', { path: 'a' }, text)
const other = (n: number) => step('search', { n })

detectorConforms(toolRepeat, shown([...read(), ...read(), ...read()]))

describe('tool_repeat in the history: 3 in 8 turns', () => {
  it('speaks at the third equal call, with its places counted from the end', () => {
    assert.deepEqual(inHistory([...read(), ...other(1), ...other(2), ...read(), ...other(3), ...read()]), {
      message: 'read_file was called 3 times with the same arguments in the last 8 turns',
      evidence: 'history',
      count: 3,
      tool: 'read_file',
      key: keyOf('read_file', { path: 'a' }),
      where: [{ turn: -6 }, { turn: -3 }, { turn: -1 }],
      results_equal: true,
    })
  })
  it('takes no act for a repetition while something else shows that it does something', () => {
    const rule = { threshold: 3, window_size: 5, params: { result_aware: true } }
    for (const [tool, args, shows] of [
      ['browser_press_key', { key: 'Tab' }, 'browser_snapshot'],
      ['scroll_down', {}, 'screenshot'],
      ['computer', { action: 'key', text: 'Down' }, 'take_screenshot'],
      ['debugger_step_over', {}, 'read_variables'],
    ] as const) {
      const act = () => step(tool, args, 'done')
      const round = (n: number) => [...act(), ...step(shows, {}, `state ${n}`)]
      const rounds = [1, 2, 3, 4, 5].flatMap(round)
      assert.equal(inHistory([...rounds, ...act()], rule), undefined, tool)
      assert.equal(inHistory([...rounds, ...act(), ...act()], rule), undefined, tool)
      assert.notEqual(inHistory([...rounds, ...act(), ...act(), ...act()], rule), undefined, tool)
      const still = [1, 1, 1].flatMap(round)
      assert.notEqual(inHistory([...still, ...act()], rule), undefined, `${tool} without effect`)
    }
  })
  it('is silent at two', () => assert.equal(inHistory([...read(), ...read()]), undefined))
  it('counts turns of words in the window', () => {
    const words = ['1', '2', '3', '4', '5'].map(says)
    assert.notEqual(inHistory([...read(), ...words, ...read(), ...read()]), undefined)
    assert.equal(inHistory([...read(), ...words, says('6'), ...read(), ...read()]), undefined)
  })
  it('asks for a call of the last turn', () =>
    assert.equal(inHistory([...read(), ...read(), ...read(), ...other(1)]), undefined))
  it('is silent after a user message', () =>
    assert.equal(inHistory([...read(), ...read(), ...read(), user('go on')]), undefined))
  it('counts across earlier user messages', () => {
    assert.notEqual(inHistory([...read(), user('again'), ...read(), ...read()]), undefined)
  })
  it('counts three equal calls of one turn once', () => {
    const calls = [called('read_file'), called('read_file'), called('read_file')]
    assert.equal(inHistory([turn(...calls), ...calls.map((call) => result(call.id, 'x'))]), undefined)
  })
  it('tells arguments and names apart', () => {
    assert.equal(inHistory([...step('a', { n: 1 }), ...step('a', { n: 2 }), ...step('b', { n: 1 })]), undefined)
  })
  it('shortens a long tool name', () => {
    const long = () => step('x'.repeat(500))
    const message = inHistory([...long(), ...long(), ...long()])?.message ?? ''
    assert.ok(message.startsWith('xxx') && message.length < 200)
  })
})

describe('tool_repeat: results_equal', () => {
  const equal = (...texts: string[]) => inHistory(texts.flatMap((text) => read(text)))?.results_equal
  it('is true when equal results alone would match', () => {
    assert.equal(equal('x', 'x', 'x'), true)
    assert.equal(equal('y', 'x', 'x', 'x'), true)
  })
  it('is false when they would not', () => assert.equal(equal('x', 'y', 'x'), false))
  it('is null when an empty result leaves it open', () => {
    assert.equal(equal('x', '', 'x'), null)
    assert.equal(equal('x', 'x', ''), null)
  })
})

describe('tool_repeat with result_aware', () => {
  const aware = { params: { result_aware: true } }
  it('speaks only on equal results', () => {
    const finding = inHistory([...read('x'), ...read('x'), ...read('x')], aware)
    assert.equal(
      finding?.message,
      'read_file was called 3 times with the same arguments and results in the last 8 turns',
    )
    assert.equal(inHistory([...read('x'), ...read('y'), ...read('x')], aware), undefined)
  })
  it('takes an empty result for no evidence', () => {
    assert.equal(inHistory([...read(''), ...read(''), ...read('')], aware), undefined)
    assert.equal(inHistory([...read('x'), ...read('x'), ...read('')], aware), undefined)
  })
  it('names only the turns that it counts', () => {
    const finding = inHistory([...read('x'), ...read('y'), ...read('x'), ...read('x')], aware)
    assert.deepEqual(finding?.where, [{ turn: -4 }, { turn: -2 }, { turn: -1 }])
  })
  it('does not look at the session', () => {
    const key = keyOf('read_file', { path: 'a' })
    const past = [aRow({ keys: [key] }), aRow({ keys: [key] })]
    const given = { past, row: { root: true, keys: [key] } }
    assert.notEqual(toolRepeat.detect(shown(read(), given)), undefined)
    assert.equal(toolRepeat.detect(shown(read(), { ...given, rule: aware })), undefined)
  })
})

describe('tool_repeat with params', () => {
  const poll = () => step('job_status', { id: 7 }, 'running')
  const polls = (count: number) => Array.from({ length: count }, poll).flat()
  const times = (count: number, items: () => Item[]) => Array.from({ length: count }, items).flat()

  it('reset_on_user_message counts what came after the last one', () => {
    const reset = { params: { reset_on_user_message: true } }
    const items = [...read(), ...read(), user('once more'), ...read()]
    assert.notEqual(inHistory(items), undefined)
    assert.equal(inHistory(items, reset), undefined)
    assert.equal(inHistory([...items, ...read(), ...read()], reset)?.count, 3)
  })
  it('reset_on_user_message ends the search in the session, too', () => {
    const key = keyOf('read_file', { path: 'a' })
    const rows = (users: boolean, first = false) => {
      const turns = conversation([...read(), ...(users ? [user('again')] : []), ...other(1)]).turns
      return [
        aRow({ root: false, thread: 't', keys: [key], new_turns: turns, user_first: first }),
        aRow({ root: false, thread: 't', keys: [key], new_turns: [] }),
      ]
    }
    const detect = (users: boolean, first = false) =>
      toolRepeat.detect(
        shown(read(), {
          past: rows(users, first),
          row: { root: false, thread: 't', keys: [key], new_turns: conversation(read()).turns },
          rule: { params: { reset_on_user_message: true } },
        }),
      ) as Finding | undefined
    assert.equal(detect(false)?.evidence, 'session')
    assert.equal(detect(true), undefined)
    assert.equal(detect(false, true), undefined)
  })
  it('cuts the name of a tool between characters', () => {
    const tool = '😀'.repeat(40)
    const { message } = inHistory(times(3, () => step(tool))) ?? {}
    assert.ok(message?.startsWith(`${'😀'.repeat(31)}… was called 3 times`))
  })
  it('exempt_tools have no calls that count, in the history and in the session', () => {
    const key = keyOf('read_file', { path: 'a' })
    const exempt = { params: { exempt_tools: ['read_*'] } }
    assert.equal(inHistory(times(4, read), exempt), undefined)
    const given = { past: [aRow({ keys: [key] }), aRow({ keys: [key] })], row: { root: true, keys: [key] } }
    assert.equal(toolRepeat.detect(shown(read(), { ...given, rule: exempt })), undefined)
  })
  it('poll_tools may be asked nine times, and the tenth equal answer in 24 turns is one too many', () => {
    const rule = { params: { poll_tools: ['*_status'] } }
    assert.equal(inHistory(polls(9), rule), undefined)
    assert.equal(inHistory(polls(10), rule)?.count, 10)
    assert.equal(inHistory([...polls(9), ...step('job_status', { id: 7 }, 'done')], rule), undefined)
    assert.equal(inHistory(polls(4), { params: { poll_tools: ['*_status'], poll_threshold: 4 } })?.count, 4)
    assert.notEqual(inHistory(times(3, read), rule), undefined)
  })
  it('mutating_tools count in consecutive turns whatever the result, if results count at all', () => {
    const append = (n: number) => step('append_file', { text: 'x' }, `file has ${n} lines`)
    const aware = { params: { result_aware: true } }
    const mutating = { params: { result_aware: true, mutating_tools: ['append*'] } }
    const growing = [...append(1), ...append(2), ...append(3)]
    assert.equal(inHistory(growing, aware), undefined)
    assert.equal(inHistory(growing, mutating)?.count, 3)
    assert.equal(inHistory(growing, mutating)?.results_equal, false)
    assert.equal(inHistory([...append(1), ...other(1), ...append(2), ...append(3)], mutating), undefined)
  })
})

describe('tool_repeat in the session: 3 in 8 requests', () => {
  const key = keyOf('read_file', { path: 'a' })
  const turns = conversation(read()).turns
  const row = (over: Partial<Row>) => aRow({ root: false, thread: 't', keys: [key], new_turns: turns, ...over })
  const inSession = (past: readonly Row[], now: Partial<Row> = {}) =>
    toolRepeat.detect(shown(read(), { past, row: { id: 'now', root: false, thread: 't', keys: [key], ...now } })) as
      | Finding
      | undefined

  it('speaks at the third request of a thread whose last turn called it', () => {
    assert.deepEqual(inSession([row({ id: 'second' }), row({ id: 'first' })]), {
      message: 'read_file was called 3 times with the same arguments in the last 8 requests',
      evidence: 'session',
      count: 3,
      tool: 'read_file',
      key,
      where: [{ request: 'first' }, { request: 'second' }, { request: 'now' }],
      results_equal: true,
    })
  })
  it('leaves other threads out', () => assert.equal(inSession([row({}), row({ thread: 'u' })]), undefined))
  it('compares the beginning of a thread with other beginnings only', () => {
    const roots = [row({ root: true, thread: 'u' }), row({ root: true, thread: 'v' })]
    assert.notEqual(inSession(roots, { root: true, thread: 'w' }), undefined)
    assert.equal(inSession([row({}), row({})], { root: true, thread: 't' }), undefined)
  })
  it('asks that the key counts for this request', () =>
    assert.equal(inSession([row({}), row({})], { keys: [] }), undefined))
  it('looks at the last eight requests before it looks at threads', () => {
    const strangers = Array.from({ length: 6 }, () => row({ thread: 'u' }))
    assert.equal(inSession([row({}), ...strangers, row({})]), undefined)
    assert.notEqual(inSession([row({}), ...strangers.slice(1), row({})]), undefined)
  })
  it('says what it knows of the results', () => {
    const changed = conversation(read('changed')).turns
    assert.equal(inSession([row({}), row({ new_turns: changed })])?.results_equal, false)
    assert.equal(inSession([row({}), row({ new_turns: [] })])?.results_equal, null)
  })
})
