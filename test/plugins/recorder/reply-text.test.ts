import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { replyText } from '../../../plugins/recorder/reply-text.ts'
import { geminiReply, ollamaReply } from '../../kit/replies.ts'

const whole = (body: unknown) => replyText(Buffer.from(JSON.stringify(body)))
const stream = (...events: readonly unknown[]) =>
  Buffer.from(events.map((event) => `event: e\ndata: ${JSON.stringify(event)}\n\n`).join(''))

const messages = {
  content: [
    { type: 'thinking', thinking: 'hidden' },
    { type: 'text', text: 'Done.' },
    { type: 'tool_use', input: { a: 'hidden' } },
  ],
}
const chat = { choices: [{ message: { role: 'assistant', reasoning_content: 'hidden', content: 'Done.' } }] }
const responses = {
  output: [
    {
      type: 'reasoning',
      encrypted_content: 'hidden',
      summary: [{ type: 'summary_text', text: 'hidden' }],
      content: [{ type: 'text', text: 'hidden' }],
    },
    { type: 'message', content: [{ type: 'output_text', text: 'Done.' }] },
  ],
}

describe('replyText: complete replies', () => {
  it('reads text blocks of Messages, no thinking', () => assert.equal(whole(messages), 'Done.'))
  it('reads the message of Chat Completions, no reasoning', () => assert.equal(whole(chat), 'Done.'))
  it('reads message items of Responses, no reasoning', () => assert.equal(whole(responses), 'Done.'))
  it('skips a byte order mark', () =>
    assert.equal(replyText(Buffer.from(`\ufeff${JSON.stringify(messages)}`)), 'Done.'))
  it('is empty without text', () => assert.equal(whole({ error: { message: 'no' } }), ''))
  it('is empty for truncated JSON', () =>
    assert.equal(replyText(Buffer.from(JSON.stringify(messages)).subarray(0, 60)), ''))
})

describe('replyText: streams', () => {
  it('joins text deltas of Messages, no thinking, no arguments', () => {
    const delta = (part: object) => ({ type: 'content_block_delta', index: 0, delta: part })
    const events = [
      delta({ type: 'thinking_delta', thinking: 'hidden' }),
      delta({ type: 'text_delta', text: 'Do' }),
      delta({ type: 'text_delta', text: 'ne.' }),
    ]
    assert.equal(replyText(stream(...events, delta({ type: 'input_json_delta', partial_json: 'hidden' }))), 'Done.')
  })
  it('joins content deltas of Chat Completions, no reasoning', () => {
    const events = [
      { delta: { reasoning: 'hidden', content: null } },
      { delta: { content: 'Do' } },
      { delta: { content: 'ne.' } },
    ]
    assert.equal(replyText(stream(...events.map((choice) => ({ choices: [choice] })))), 'Done.')
  })
  it('joins output text of Responses, no reasoning', () => {
    const events = [
      { type: 'response.reasoning_text.delta', delta: 'hidden' },
      { type: 'response.output_text.delta', delta: 'Do' },
      { type: 'response.output_text.delta', delta: 'ne.' },
      { type: 'response.function_call_arguments.delta', delta: 'hidden' },
    ]
    assert.equal(replyText(stream(...events)), 'Done.')
  })
  it('ends before a truncated event', () => {
    const bytes = stream({ choices: [{ delta: { content: 'Do' } }] }, { choices: [{ delta: { content: 'né.' } }] })
    assert.equal(replyText(bytes.subarray(0, bytes.length - 9)), 'Do')
  })
  it('is empty for other bytes', () => assert.equal(replyText(Buffer.from([0x1f, 0x8b, 8, 0])), ''))
})

describe('replyText: Gemini and Ollama', () => {
  it('reads whole replies and streams in each framing', () => {
    for (const { body } of [
      geminiReply(false),
      geminiReply(true),
      geminiReply(true, undefined, false),
      ollamaReply(false),
      ollamaReply(true),
      ollamaReply(true, undefined, true),
    ])
      assert.equal(replyText(Buffer.from(body)), 'Hello there.')
  })
  it('leaves out thoughts, and what was cut off', () => {
    const parts = [{ text: 'hidden', thought: true }, { text: 'Done.' }]
    assert.equal(whole({ candidates: [{ content: { parts } }] }), 'Done.')
    assert.equal(whole({ message: { thinking: 'hidden', content: 'Done.' }, done: true }), 'Done.')
    const { body } = ollamaReply(true)
    assert.equal(replyText(Buffer.from(body.slice(0, body.indexOf('there')))), 'Hello ')
  })
})
