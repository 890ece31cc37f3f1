import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ApiStyle, Finding } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { noveltyStall } from 'guard-gateway/plugins/detectors/novelty-stall'
import { readRequest } from '#lib/request-reader'
import { detectorConforms } from '../../conformance/detector.ts'
import { called, conversation, type Item, result, says, step, turn, user } from '../../kit/conversation.ts'
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

/** Looks again at what it has looked at. */
const again = (count: number) =>
  Array.from({ length: count }, (_, n) => step('grep', { pattern: `b${n}` }, 'export const b = 1')).flat()

detectorConforms(noveltyStall, shown([...seen, ...looks(4), ...again(2)]))

describe('novelty_stall: 6 tool turns without a new line, among them calls made before', () => {
  it('speaks at the sixth, if two of them repeat a call', () => {
    const two = [...seen, ...step('list', {}, 'import a')]
    assert.equal(detect([...two, ...looks(3), ...again(1)]), undefined)
    assert.deepEqual(detect([...two, ...looks(3), ...again(2)]), {
      message: '6 tool turns in a row brought nothing that had not been seen before',
      evidence: 'history',
      count: 6,
      where: [{ turn: -6 }, { turn: -5 }, { turn: -4 }, { turn: -3 }, { turn: -2 }, { turn: -1 }],
      results_equal: true,
    })
  })
  it('is silent about new calls with known answers, however many', () => {
    for (const tool of ['grep', 'execute_sql', 'Bash', 'click'])
      assert.equal(detect([...seen, ...looks(40, tool)]), undefined)
    assert.equal(detect([...seen, ...looks(40), ...again(1)]), undefined)
  })
  it('takes new calls for a stall where a rule says so', () => {
    const broad = { params: { repeated_calls: 0 } }
    assert.equal(detect([...seen, ...looks(4)], broad), undefined)
    assert.equal(detect([...seen, ...looks(6)], broad)?.count, 6)
  })
  it('speaks one turn sooner if all of them had one and the same answer', () => {
    assert.equal(detect([...seen, ...looks(2), ...again(2)]), undefined)
    assert.equal(detect([...seen, ...looks(3), ...again(2)])?.count, 5)
  })
  it('is reset by one new line among known ones', () => {
    assert.equal(
      detect([...seen, ...looks(4), ...step('grep', {}, `${FILE}\nexport const c = 2`), ...again(4)]),
      undefined,
    )
  })
  it('takes brackets and rulers around nothing for no result', () => {
    for (const nothing of ['[]', '{}', '[ ]', '""', '(\n)', '-----'])
      assert.equal(detect([...seen, ...looks(9, 'search', nothing)]), undefined, nothing)
    const zeros = [...looks(7, 'count', '0'), ...looks(2, 'count', '0')]
    assert.equal(detect([...seen, ...zeros])?.count, 8)
    const numbers = [...looks(7, 'count', '[12345]'), ...looks(2, 'count', '[12345]')]
    assert.equal(detect([...seen, ...numbers])?.count, 8)
  })
  it('is reset by a user message, unless the rule says otherwise', () => {
    const items = [...seen, ...looks(4), user('look again'), ...again(3)]
    assert.equal(detect(items), undefined)
    assert.equal(detect(items, { params: { reset_on_user_message: false } })?.count, 7)
  })
  it('is reset by a change that was not made before, whatever the tool is called', () => {
    const changes = [
      'Edit',
      'MultiEdit',
      'NotebookEdit',
      'str_replace_editor',
      'mcp__files__edit_file',
      'apply_patch',
      'TodoWrite',
      'browser.click',
    ]
    for (const tool of changes) {
      const edit = (text: string) => step(tool, { text }, 'export const b = 1')
      assert.equal(detect([...seen, ...looks(4), ...edit('x'), ...again(4)]), undefined, tool)
    }
    const edit = (text: string) => step('edit_file', { text }, 'export const b = 1')
    assert.equal(detect([...seen, ...edit('x'), ...looks(3), ...edit('x'), ...again(1)])?.count, 5)
  })
  it('is reset by a command that changes something, and by tools that a rule names', () => {
    const command = (text: string) => step('Bash', { command: text }, 'export const b = 1')
    assert.equal(detect([...seen, ...looks(4), ...command('echo x >> a.ts'), ...again(4)]), undefined)
    assert.equal(detect([...seen, ...looks(4), ...command('cat a.ts'), ...again(2)])?.count, 7)
    const custom = [...seen, ...looks(4), ...step('frobnicate', { n: 1 }, 'import a'), ...again(2)]
    assert.equal(detect(custom)?.count, 7)
    assert.equal(detect(custom, { params: { mutating_tools: ['frob*'] } }), undefined)
  })
  it('is not reset by a change that failed', () => {
    const call = called('Edit', { text: 'x' })
    const failed = [turn(call), result(call.id, 'export const b = 1', true)]
    assert.equal(detect([...seen, ...looks(4), ...failed, ...again(2)])?.count, 7)
  })
  it('passes over words, exempt tools, and new calls that answer nothing', () => {
    const empty = step('bash', { cmd: 'true' }, '')
    assert.equal(detect([...seen, ...looks(3), says('hm'), ...empty, ...again(3)])?.count, 6)
    const notes = { params: { exempt_tools: ['todo_*'] } }
    const note = step('todo_write', {}, 'a note of its own')
    assert.equal(detect([...seen, ...looks(3), ...note, ...again(3)]), undefined)
    assert.equal(detect([...seen, ...looks(3), ...note, ...again(3)], notes)?.count, 6)
  })
  it('takes two turns more where an old call answers nothing again', () => {
    const silent = () => step('bash', { cmd: 'ls build' }, '')
    const times = (count: number) => Array.from({ length: count }, silent).flat()
    assert.equal(detect(times(8)), undefined)
    assert.equal(detect(times(9))?.count, 8)
  })
  it('lets waiting last for 20 turns', () => {
    const poll = (n: number) => step('Bash', { command: `sleep ${n} && gh run view 7` }, 'in progress')
    const polls = (count: number) => Array.from({ length: count }, (_, n) => poll(n * 10)).flat()
    assert.equal(detect([...seen, ...polls(20)]), undefined)
    assert.deepEqual(detect([...seen, ...polls(21)])?.message, '20 tool turns waited for something that did not change')
    assert.equal(detect([...seen, ...polls(6)], { params: { wait_threshold: 5 } })?.count, 5)
    const silent = Array.from({ length: 21 }, () => step('write_stdin', { chars: '', session_id: 1 }, '')).flat()
    assert.equal(detect(silent.slice(0, 38)), undefined)
    assert.equal(detect(silent)?.count, 21)
  })
  it('is silent where results are not at hand', () => {
    const plain = { ...conversation([...seen, ...looks(9)]), turnContents: undefined }
    const { turnContents: _, ...hashes } = plain
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
  const read = readRequest(styles[dialect.style], body)
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
