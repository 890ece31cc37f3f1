import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ApiStyle } from 'guard-gateway/core'
import { ollama as style } from 'guard-gateway/plugins/api-styles/ollama'
import { apiStyleConforms } from '../../conformance/api-style.ts'

const ollama: ApiStyle = style

const call = { function: { name: 'read_file', arguments: { path: 'a.ts' } } }
const chat = {
  model: 'qwen3:8b',
  messages: [
    { role: 'system', content: 'Be short.' },
    { role: 'user', content: 'What is in a.ts?', images: ['QUJD'] },
    { role: 'assistant', content: '', thinking: 'hm', tool_calls: [call] },
    { role: 'tool', tool_name: 'read_file', content: 'const a = 1' },
  ],
  tools: [{ type: 'function', function: { name: 'read_file', parameters: { type: 'object' } } }],
  options: { num_predict: 512, temperature: 0.5 },
}
const generate = { model: 'qwen3:8b', prompt: 'Why?', system: 'Be short.', suffix: 'end', context: [1, 2] }

const common = { model: 'qwen3:8b', created_at: '2026-01-02T03:04:05.678Z' }
const done = {
  done: true,
  done_reason: 'stop',
  total_duration: 5,
  load_duration: 1,
  prompt_eval_count: 26,
  prompt_eval_duration: 2,
  eval_count: 9,
  eval_duration: 2,
}
const usage = {
  input_tokens: 26,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  cache_write_5m_tokens: 0,
  cache_write_1h_tokens: 0,
  output_tokens: 9,
  reasoning_tokens: 0,
  total_tokens: 35,
}
const lines = (...values: readonly object[]) =>
  values.map((value) => `${JSON.stringify({ ...common, ...value })}\n`).join('')
const message = (more: object) => ({ message: { role: 'assistant', content: '', ...more }, done: false })
const chatLines = lines(
  message({ thinking: 'hm' }),
  message({ content: 'Look' }),
  message({ content: ': {"a":"\\n}' }),
  message({ tool_calls: [call] }),
  { ...message({}), ...done },
)
const reading = {
  model: 'qwen3:8b',
  response_id: null,
  finish_reason: 'stop',
  complete: true,
  output_bytes: 2 + 4 + 11 + 15,
  calls: [{ id: null, tool: 'read_file', args: { path: 'a.ts' } }],
  usage,
}

apiStyleConforms(ollama, {
  requests: [chat, { ...chat, messages: chat.messages.slice(1, 2) }],
  addressed: [
    { path: '/api/chat', body: chat, model: 'qwen3:8b', stream: true },
    { path: '/api/chat', body: { ...chat, stream: false }, model: 'qwen3:8b', stream: false },
    { path: '/api/generate', body: generate, model: 'qwen3:8b', stream: true },
    { path: '/api/generate', body: { ...generate, stream: true }, model: 'qwen3:8b', stream: true },
  ],
  replies: [
    { name: 'lines', stream: true, text: chatLines, reading },
    { name: 'lines with carriage returns', stream: true, text: chatLines.replaceAll('}\n', '}\r\n'), reading },
    { name: 'lines without the last line feed', stream: true, text: chatLines.trimEnd(), reading },
    {
      name: 'lines that break off',
      stream: true,
      text: chatLines.slice(0, -300),
      reading: { complete: false, usage: null },
    },
    {
      name: 'a whole reply',
      stream: false,
      text: lines({
        message: { role: 'assistant', content: 'Look: {"a":"\\n}', thinking: 'hm', tool_calls: [call] },
        ...done,
      }),
      reading: { ...reading, output_bytes: 2 + 15 + 15 },
    },
    {
      name: 'a stream of generate',
      stream: true,
      text: lines(
        { response: 'Be', done: false },
        { response: 'cause', done: false },
        { response: '', ...done, context: [1] },
      ),
      reading: { complete: true, output_bytes: 7, finish_reason: 'stop', usage, calls: [] },
    },
    {
      name: 'an error in a stream',
      stream: true,
      text: `${lines(message({ content: 'Look' }))}{"error":"model runner has stopped"}\n`,
      reading: { complete: true, error: { type: null, code: null, message: 'model runner has stopped' } },
    },
    {
      name: 'an error',
      status: 404,
      stream: false,
      text: '{"error":"model \'x\' not found"}',
      reading: { error: { type: null, code: null, message: "model 'x' not found" } },
    },
    {
      name: 'thoughts alone',
      stream: true,
      text: lines(message({ thinking: 'hm' }), { ...message({}), ...done }),
      reading: { wordless: true },
    },
  ],
})

describe('ollama requests', () => {
  const parts = (element: unknown) => ollama.parts(element)

  it('are read as other dialects are', () => {
    assert.deepEqual(chat.messages.flatMap(parts), [
      { kind: 'system', text: 'Be short.' },
      { kind: 'user', text: 'What is in a.ts?', blocks: ['QUJD'] },
      { kind: 'call', tool: 'read_file', args: { path: 'a.ts' } },
      { kind: 'result', text: 'const a = 1' },
    ])
    assert.deepEqual(parts({ role: 'tool', tool_name: 'f', tool_call_id: 'c1', content: 'x' }), [
      { kind: 'result', id: 'c1', text: 'x' },
    ])
    const { max_tokens, temperature, before } = ollama.envelope(chat, { path: '/api/chat', params: {} })
    assert.deepEqual([max_tokens, temperature, before], [512, 0.5, []])
  })

  it('of generate hold a prompt, and what it goes on from', () => {
    const { before } = ollama.envelope(generate, { path: '/api/generate', params: {} })
    assert.deepEqual(before, [
      { kind: 'system', text: 'Be short.' },
      { kind: 'user', text: 'Why?', blocks: ['end', [1, 2]] },
    ])
  })
})

describe('ollama errors', () => {
  it('are a text, with what programs read beside it', () => {
    const error = { type: 'guard_block', code: 'LOOP_EXACT', message: 'Stop.', session_id: 'ses_1', rule_id: 'r' }
    assert.deepEqual(ollama.refusal(error, 'guardreq_1', 429), {
      error: 'Stop.',
      type: 'guard_block',
      code: 'LOOP_EXACT',
      session_id: 'ses_1',
      rule_id: 'r',
    })
  })
})
