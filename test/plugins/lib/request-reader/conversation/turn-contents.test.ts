import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ApiStyle, TurnContent } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { readRequest } from '#lib/request-reader'
import { dialects, type Step } from '../../../../kit/dialogue.ts'

const styles: Readonly<Record<string, ApiStyle>> = { responses, chat_completions: chatCompletions, messages }

const told = (style: ApiStyle, body: object, turns = 9): readonly TurnContent[] =>
  readRequest(style, Buffer.from(JSON.stringify(body))).conversation.turnContents?.(turns) ?? []

const steps: readonly Step[] = [
  { user: 'Go.' },
  { assistant: 'I will look.' },
  { user: 'Continue. <system-reminder>be brief</system-reminder>' },
  { tool: 'read_file', args: { path: 'a.ts' }, result: 'const a = 1' },
  { tool: 'read_file', args: { path: 'b.ts' }, result: 'const b = 2' },
]

describe('what turns said', () => {
  for (const dialect of dialects) {
    const style = styles[dialect.style] ?? messages
    it(`is read alike in ${dialect.style}`, () => {
      const [words, ...calls] = told(style, dialect.body([...steps]))
      assert.deepEqual([words?.text, words?.calls, words?.results], ['I will look.', [], []])
      assert.equal(words?.heard.trim(), 'Continue.')
      assert.deepEqual(
        calls.map(({ text: said, calls, results, heard }) => [said, calls.map(({ tool }) => tool), results, heard]),
        [
          ['', ['read_file'], ['const a = 1'], ''],
          ['', ['read_file'], ['const b = 2'], ''],
        ],
      )
    })
    it(`is read from the end in ${dialect.style}, no further than asked`, () => {
      const all = told(style, dialect.body([...steps]))
      assert.deepEqual(told(style, dialect.body([...steps]), 1), all.slice(-1))
      assert.deepEqual(told(style, dialect.body([...steps]), 2), all.slice(-2))
      assert.deepEqual(told(style, dialect.body([...steps]), 0), [])
    })
  }
  it('holds the parts of one turn in their order, though a body has them apart', () => {
    const input = [
      { role: 'user', content: 'Go.' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Both.' }] },
      { type: 'function_call', call_id: 'a', name: 'one', arguments: '{"n":1}' },
      { type: 'function_call', call_id: 'b', name: 'two', arguments: '{"n":2}' },
      { type: 'function_call_output', call_id: 'a', output: 'first' },
      { type: 'function_call_output', call_id: 'b', output: 'second' },
    ]
    assert.deepEqual(told(responses, { model: 'm', input }), [
      {
        text: 'Both.',
        calls: [
          { tool: 'one', args: '{"n":1}' },
          { tool: 'two', args: '{"n":2}' },
        ],
        results: ['first', 'second'],
        heard: '',
        served: false,
      },
    ])
  })
  it('parts a reply where tools ran at the provider, and says so', () => {
    const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } }
    const found = { type: 'web_search_tool_result', tool_use_id: 's', content: [{ type: 'text', text: 'A page.' }] }
    const content = [search, found, { type: 'text', text: 'Here.' }]
    const body = {
      model: 'm',
      messages: [
        { role: 'user', content: 'Go.' },
        { role: 'assistant', content },
      ],
    }
    assert.deepEqual(told(messages, body), [
      {
        text: '',
        calls: [{ tool: 'web_search', args: { query: 'q' } }],
        results: ['A page.'],
        heard: '',
        served: true,
      },
      { text: 'Here.', calls: [], results: [], heard: '', served: false },
    ])
  })
  it('takes results before the first turn for one more turn', () => {
    const input = [{ type: 'function_call_output', call_id: 'a', output: 'late' }]
    const [only, ...more] = told(responses, { model: 'm', previous_response_id: 'r', input })
    assert.deepEqual([only?.results, more], [['late'], []])
  })
})
