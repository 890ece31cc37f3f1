import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type ApiStyle, type Finding, readRequest } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { noveltyStall } from 'guard-gateway/plugins/detectors/novelty-stall'
import { detectorConforms } from '../../conformance/detector.ts'
import { conversation, type Item, result, says, step, user } from '../../kit/conversation.ts'
import { type Dialect, dialects, type Step } from '../../kit/dialogue.ts'
import { call, evidence } from '../../kit/evidence.ts'

const measured = (items: readonly Item[], memory = new Map<string, unknown>()): unknown =>
  noveltyStall.measure?.(call({ conversation: conversation(items) }), memory)

const shown = (items: readonly Item[], rule = {}) =>
  evidence(noveltyStall, 'a', {
    rule,
    turns: conversation(items).turns,
    row: { measures: { novelty_stall: measured(items) } },
  })
const detect = (items: readonly Item[], rule = {}) => noveltyStall.detect(shown(items, rule)) as Finding | undefined

const FILE = 'import a\nexport const b = 1'
const seen = step('read_file', { path: 'a.ts' }, FILE)
/** Looks at the same lines in ever new ways. */
const looks = (count: number, tool = 'grep', text = 'export const b = 1') =>
  Array.from({ length: count }, (_, n) => step(tool, { pattern: `b${n}` }, text)).flat()

detectorConforms(noveltyStall, shown([...seen, ...looks(6)]))

describe('novelty_stall: 6 tool turns without a new line', () => {
  it('speaks at the sixth, whatever the arguments', () => {
    assert.equal(detect([...seen, ...looks(5)]), undefined)
    assert.deepEqual(detect([...seen, ...looks(6)]), {
      message: '6 tool turns in a row brought nothing that had not been seen before',
      evidence: 'history',
      count: 6,
      where: [{ turn: -6 }, { turn: -5 }, { turn: -4 }, { turn: -3 }, { turn: -2 }, { turn: -1 }],
      results_equal: true,
    })
  })
  it('is reset by one new line among known ones', () => {
    assert.equal(
      detect([...seen, ...looks(4), ...step('grep', {}, `${FILE}\nexport const c = 2`), ...looks(4)]),
      undefined,
    )
  })
  it('takes brackets and rulers around nothing for no result', () => {
    for (const nothing of ['[]', '{}', '[ ]', '""', '(\n)', '-----'])
      assert.equal(detect([...seen, ...looks(9, 'search', nothing)]), undefined, nothing)
    const asking = Array.from({ length: 7 }, () => step('search', { day: 1 }, '[]')).flat()
    assert.equal(detect([...seen, ...asking])?.count, 6)
    assert.equal(detect([...seen, ...looks(9, 'count', '0')])?.count, 8)
    assert.equal(detect([...seen, ...looks(9, 'count', '[12345]')])?.count, 8)
  })
  it('is reset by a user message, unless the rule says otherwise', () => {
    const items = [...seen, ...looks(4), user('look again'), ...looks(3)]
    assert.equal(detect(items), undefined)
    assert.equal(detect(items, { params: { reset_on_user_message: false } })?.count, 7)
  })
  it('is reset by a change that was not made before, not by the same one again', () => {
    const edit = (text: string) => step('edit_file', { text }, 'export const b = 1')
    assert.equal(detect([...seen, ...looks(4), ...edit('x'), ...looks(4)]), undefined)
    assert.equal(detect([...seen, ...edit('x'), ...looks(3), ...edit('x'), ...looks(2)])?.count, 6)
    const reading = { params: { mutating_tools: ['write*'] } }
    assert.equal(detect([...seen, ...looks(4), ...edit('x'), ...looks(4)], reading)?.count, 9)
  })
  it('passes over words, exempt tools, and new calls that answer nothing', () => {
    const empty = step('bash', { cmd: 'true' }, '')
    assert.equal(detect([...seen, ...looks(3), says('hm'), ...empty, ...looks(3)])?.count, 6)
    const notes = { params: { exempt_tools: ['todo_*'] } }
    const note = step('todo_write', {}, 'a note of its own')
    assert.equal(detect([...seen, ...looks(3), ...note, ...looks(3)]), undefined)
    assert.equal(detect([...seen, ...looks(3), ...note, ...looks(3)], notes)?.count, 6)
  })
  it('counts an old call that answers nothing again', () => {
    const wait = () => step('bash', { cmd: 'sleep 5' }, '')
    assert.equal(detect([...wait(), ...wait(), ...wait(), ...wait(), ...wait(), ...wait(), ...wait()])?.count, 6)
  })
  it('is silent where results are not at hand', () => {
    const plain = { ...conversation([...seen, ...looks(9)]), resultTexts: undefined }
    const { resultTexts: _, ...hashes } = plain
    assert.equal(noveltyStall.measure?.(call({ conversation: hashes }), new Map()), undefined)
    assert.equal(noveltyStall.detect(evidence(noveltyStall, 'a', { turns: hashes.turns })), undefined)
  })
})

describe('novelty_stall: what is a new line', () => {
  const twice = (one: string, other: string): unknown => measured([...step('a', {}, one), ...step('b', {}, other)])
  it('masks durations, clock times, addresses, long numbers and line numbers', () => {
    assert.equal(twice('ok in 1.32s at 12:01:07', 'ok in 9 s at 13:59:00'), 'NS')
    assert.equal(twice('object at 0x7ffe12 pid 40213', 'object at 0xdeadbeef pid 5121'), 'NS')
    assert.equal(twice('error in line 12 of a.ts', 'error in line 345 of a.ts'), 'NS')
  })
  it('keeps short numbers', () => assert.equal(twice('3 tests failed', '2 tests failed'), 'NN'))
  it('takes white space at the ends of a line for nothing', () => assert.equal(twice('  a b\n', 'a b  '), 'NS'))
  it('sees several lines in one long line of JSON', () => {
    assert.equal(twice('{"a": 1, "b": 2}', '{"a": 1, "b": 3}'), 'NN')
    assert.equal(twice('[{"a": 1}, {"b": 2}, {"c": 3}]', '{"b": 2}, {"b": 2},'), 'NS')
    assert.equal(twice('{"a": 1} {"b": 2}', '{"b": 2} {"a": 1}'), 'NS')
  })
  it('looks at the first 40,000 characters', () => {
    const long = 'a'.repeat(39_999)
    assert.equal(twice(`${long}bc`, `${long}bd`), 'NS')
    assert.equal(twice(`${long}b`, `${long}c`), 'NN')
  })
  it('forgets reminders', () => {
    const steps: Step[] = [
      { tool: 'read_file', args: {}, result: 'text' },
      { tool: 'read_file', args: {}, result: 'text<system-reminder>Be quick.</system-reminder>' },
    ]
    for (const dialect of dialects) assert.equal(inStyle(dialect, steps, new Map()), 'Ns', dialect.style)
  })
})

const styles: Readonly<Record<Dialect['style'], ApiStyle>> = {
  chat_completions: chatCompletions,
  messages,
  responses,
}

const inStyle = (dialect: Dialect, steps: readonly Step[], memory: Map<string, unknown>): unknown => {
  const body = Buffer.from(JSON.stringify(dialect.body(steps)))
  const read = readRequest(styles[dialect.style], body, `novelty ${dialect.style}`)
  return noveltyStall.measure?.(call({ conversation: read.conversation, envelope: read.envelope }), memory)
}

describe('novelty_stall in a session as it grows', () => {
  const listing = Array.from({ length: 80 }, (_, n) => `-rw-r--r-- root src/module-${n.toString(36)}.ts`).join('\n')
  const session: Step[] = [
    { user: 'Find where the port is read.' },
    { tool: 'list', args: { path: '.' }, result: listing },
    ...Array.from({ length: 8 }, (_, n) => ({
      tool: 'grep',
      args: { pattern: `port${n}` },
      result: n === 2 ? 'src/module-4.ts: const port = 80' : listing.slice(0, 300),
    })),
  ]
  for (const dialect of dialects) {
    it(`gives ${dialect.style} the verdicts of the whole, request by request`, () => {
      const memory = new Map<string, unknown>()
      let verdicts: unknown
      for (let end = 2; end <= session.length; end++) verdicts = inStyle(dialect, session.slice(0, end), memory)
      assert.equal(verdicts, 'NNSNSSSSS')
      assert.equal(inStyle(dialect, session, new Map()), verdicts)
    })
  }
  it('reads results that come without their calls', () => {
    const memory = new Map<string, unknown>()
    const next = (n: number, item: Item) =>
      noveltyStall.measure?.(
        call({ conversation: conversation([item], `${n}`), envelope: { previous_response_id: `r${n}` } }),
        memory,
      )
    next(1, result('call_1', 'one'))
    next(2, result('call_2', 'two'))
    next(3, user('and then?'))
    assert.equal(next(4, result('call_4', 'one')), 'NNtS')
  })
})
