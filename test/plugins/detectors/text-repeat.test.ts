import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Finding } from 'guard-gateway/core'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { textRepeat } from 'guard-gateway/plugins/detectors/text-repeat'
import { readRequest } from '#lib/request-reader'
import { detectorConforms } from '../../conformance/detector.ts'
import { conversation, type Item, says, step, user } from '../../kit/conversation.ts'
import { call, evidence } from '../../kit/evidence.ts'

const shown = (items: readonly Item[], rule = {}) => {
  const seen = conversation(items)
  const measured = textRepeat.measure?.(call({ conversation: seen }), new Map())
  return evidence(textRepeat, 'a', { rule, turns: seen.turns, row: { measures: { text_repeat: measured } } })
}
const detect = (items: readonly Item[], rule = {}) => textRepeat.detect(shown(items, rule)) as Finding | undefined
const repeat = (count: number, of: (n: number) => readonly Item[]): Item[] =>
  Array.from({ length: count }, (_, n) => of(n)).flat()

const answer = (n: number) => user(`<returncode>2</returncode>\n<output>\nno rule, ${n + 1}.${n}s\n</output>`)

/** The same command in each agent's form, under another thought each time. */
const protocols: Readonly<Record<string, (n: number, command?: string) => string>> = {
  'a fenced block': (n, command = 'make all') => `THOUGHT: try ${n}\n\n\`\`\`bash\n${command}\n\`\`\``,
  'a tagged block': (n, command = 'make all') => `Let me see ${n}.\n<execute_bash>\n${command}\n</execute_bash>`,
  'a tag with a name': (n, command = 'make all') =>
    `Try ${n}: <function=bash><parameter=command>${command}</parameter></function>`,
  'function calls': (n, command = 'make all') =>
    `${n}\n<function_calls><invoke name="bash"><parameter name="command">${command}</parameter></invoke></function_calls>`,
  'an object': (n, command = 'make all') =>
    JSON.stringify({ analysis: `so ${n}`, plan: `${n}`, commands: [{ keystrokes: `${command}\n`, duration: 1 }] }),
  'an object in a fence': (n, command = 'make all') =>
    `\`\`\`json\n${JSON.stringify({ thought: `so ${n}`, command })}\n\`\`\``,
  'tags around thoughts': (n, command = 'make all') =>
    `<response><analysis>so ${n}</analysis><plan>${n}</plan><commands><keystrokes>${command}</keystrokes></commands></response>`,
  ReAct: (n, command = 'make all') => `Thought: try ${n}\nAction: shell\nAction Input: ${command}`,
}

const fence = protocols['a fenced block'] as (n: number, command?: string) => string

detectorConforms(textRepeat, shown(repeat(3, (n) => [says(fence(n)), answer(n)])))

describe('text_repeat: 3 equal replies in 8 turns', () => {
  for (const [what, say] of Object.entries(protocols)) {
    it(`knows the same command in ${what} under other thoughts`, () => {
      assert.equal(detect(repeat(2, (n) => [says(say(n)), answer(n)])), undefined)
      assert.deepEqual(detect(repeat(3, (n) => [says(say(n)), answer(n)])), {
        message: '3 of the last 8 turns said the same and were answered the same',
        evidence: 'history',
        count: 3,
        where: [{ turn: -3 }, { turn: -2 }, { turn: -1 }],
        results_equal: true,
      })
      assert.equal(detect(repeat(4, (n) => [says(say(n, `make ${'abcd'[n]}`)), answer(n)])), undefined)
      assert.equal(detect(repeat(4, (n) => [says(say(n)), user(`line ${'abcd'[n]}`)])), undefined)
    })
  }
  it('knows words that are said again after every "Continue."', () => {
    const plan = 'I will now do this:\n1. read the file'
    assert.equal(detect(repeat(3, () => [says(plan), user('Continue.')]))?.count, 3)
    assert.equal(detect(repeat(9, (n) => [says(`Chapter ${'abcdefghi'[n]}`), user('Continue.')])), undefined)
    assert.equal(detect([...repeat(2, () => [says(plan), user('Continue.')]), says(plan)]), undefined)
  })
  it('takes a check after another change for a check', () => {
    const edit = (n: number): Item[] => [
      says(fence(n, `sed -i s/${'abcd'[n]}/x/ a.ts`)),
      user('<returncode>0</returncode>'),
    ]
    const check = (n: number): Item[] => [says(fence(n, 'npm test')), user('5 passed')]
    assert.equal(detect(repeat(4, (n) => [...edit(n), ...check(n)])), undefined)
    assert.equal(detect(repeat(4, (n) => [...edit(0), ...check(n)]))?.count, 4)
  })
  it('lets waiting pass', () => {
    const wait = (n: number): Item[] => [says(fence(n, 'sleep 30 && gh run view 7')), user('in progress')]
    assert.equal(detect(repeat(8, wait)), undefined)
    const idle = () => [says('{"plan":"wait","commands":[{"keystrokes":"","duration":60}]}'), user('building')]
    assert.equal(detect(repeat(8, idle)), undefined)
  })
  it('says nothing of calls of the client, and of several blocks', () => {
    assert.equal(detect(repeat(5, () => step('read_file', {}, 'a'))), undefined)
    const two = (n: number) => `First ${n}\n\`\`\`sh\na\n\`\`\`\nor\n\`\`\`sh\nb\n\`\`\``
    assert.equal(detect(repeat(5, (n) => [says(two(n)), user('ok')])), undefined)
  })
  it('counts what tools at the provider were asked, whatever is said behind them', () => {
    const reply = (n: number, query: string) => [
      {
        role: 'assistant',
        content: [
          { type: 'server_tool_use', id: `s${n}`, name: 'web_search', input: { query } },
          { type: 'web_search_tool_result', tool_use_id: `s${n}`, content: [] },
          { type: 'text', text: `So far ${'abcd'[n]}.` },
        ],
      },
      { role: 'user', content: 'Continue.' },
    ]
    const found = (query: (n: number) => string) => {
      const turns = [0, 1, 2].flatMap((n) => reply(n, query(n)))
      const body = { model: 'm', messages: [{ role: 'user', content: 'Go.' }, ...turns] }
      const seen = readRequest(messages, Buffer.from(JSON.stringify(body))).conversation
      const measured = textRepeat.measure?.(call({ conversation: seen }), new Map())
      return textRepeat.detect(
        evidence(textRepeat, 'a', { turns: seen.turns, row: { measures: { text_repeat: measured } } }),
      ) as Finding | undefined
    }
    assert.equal(found(() => 'q')?.count, 3)
    assert.equal(
      found((n) => `q${n}`),
      undefined,
    )
  })
})
