import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { totalled } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { apiStyleConforms } from '../../conformance/api-style.ts'

const chunk = (choice: object, rest: object = {}) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1790000000, model: 'gpt-x-2026', choices: [{ index: 0, logprobs: null, finish_reason: null, ...choice }], usage: null, ...rest })}\n\n`
const done = 'data: [DONE]\n\n'
const usage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 64, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 5 },
}
const counted = totalled({ input_tokens: 36, cache_read_tokens: 64, output_tokens: 20, reasoning_tokens: 5 })
const finish = (reason: string) => chunk({ delta: {}, finish_reason: reason })
const usageChunk = chunk({}, { choices: [], usage })
const tool = (piece: object) => chunk({ delta: { tool_calls: [piece] } })

const streams = [
  {
    name: 'text with usage',
    stream: true,
    text:
      chunk({ delta: { role: 'assistant', content: '' } }) +
      chunk({ delta: { content: 'Hé"l' } }) +
      chunk({ delta: { content: 'lo\n' } }) +
      finish('stop') +
      usageChunk +
      done,
    reading: {
      usage: counted,
      output_bytes: 8,
      model: 'gpt-x-2026',
      response_id: 'chatcmpl-1',
      finish_reason: 'stop',
      calls: [],
      error: null,
      complete: true,
    },
  },
  {
    name: 'text without usage that speaks of usage',
    stream: true,
    text:
      chunk({ delta: { content: '"usage":{"prompt_tokens":9},"tool_calls":[{' } }) +
      chunk({ delta: { reasoning_content: 'mm' } }) +
      finish('length') +
      done,
    reading: { usage: null, output_bytes: 45, finish_reason: 'length', complete: true, calls: [] },
  },
  {
    name: 'two parallel calls in pieces',
    stream: true,
    text:
      tool({ index: 0, id: 'call_a', type: 'function', function: { name: 'read_file', arguments: '' } }) +
      tool({ index: 0, function: { arguments: '{"path":' } }) +
      tool({ index: 1, id: 'call_b', type: 'custom', custom: { name: 'patch', input: '*** Begin' } }) +
      tool({ index: 0, function: { arguments: '"a"}' } }) +
      tool({ index: 1, custom: { input: ' Patch' } }) +
      finish('tool_calls') +
      done,
    reading: {
      calls: [
        { id: 'call_a', tool: 'read_file', args: '{"path":"a"}' },
        { id: 'call_b', tool: 'patch', args: '*** Begin Patch' },
      ],
      output_bytes: 27,
      finish_reason: 'tool_calls',
    },
  },
  {
    name: 'calls that all bear index 0, and one of the older form',
    stream: true,
    text:
      tool({ index: 0, id: 'a', function: { name: 'x', arguments: '{}' } }) +
      tool({ index: 0, id: 'b', function: { name: 'y', arguments: '{}' } }) +
      chunk({ delta: { function_call: { name: 'old', arguments: '{"z"' } } }) +
      chunk({ delta: { function_call: { arguments: ':1}' } }, finish_reason: 'function_call' }) +
      done,
    reading: {
      calls: [
        { id: 'a', tool: 'x', args: '{}' },
        { id: 'b', tool: 'y', args: '{}' },
        { id: null, tool: 'old', args: '{"z":1}' },
      ],
    },
  },
  {
    name: 'spaces between members, usage in every chunk, no value below zero',
    stream: true,
    text: 'data: {"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 5, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 9}}}\r\n\r\ndata: {"choices": [], "usage": {"prompt_tokens": null, "completion_tokens": 0}}\r\n\r\ndata: [DONE]\r\n\r\n',
    reading: { usage: totalled({ cache_read_tokens: 9 }), output_bytes: 1, finish_reason: 'stop', complete: true },
  },
  {
    name: 'a stream that breaks off in a call',
    stream: true,
    text: `${chunk({ delta: { content: 'a' } })}${tool({ index: 0, id: 'a', function: { name: 'x', arguments: '{"p' } })}data: {"id":"chat`,
    reading: { complete: false, calls: [], usage: null, response_id: 'chatcmpl-1', model: 'gpt-x-2026' },
  },
  {
    name: 'a stream of a server that does not send the last event',
    stream: true,
    text: chunk({ delta: { content: 'a' } }) + finish('stop') + usageChunk,
    reading: { complete: true, finish_reason: 'stop', usage: counted },
  },
  {
    name: 'usage where Groq puts it unasked',
    stream: true,
    text:
      chunk({ delta: { content: 'a' } }) + chunk({ delta: {}, finish_reason: 'stop' }, { x_groq: { usage } }) + done,
    reading: { complete: true, usage: counted },
  },
  {
    name: 'an error inside a stream',
    stream: true,
    text: `${chunk({ delta: { content: 'a' } })}data: {"error":{"message":"Overloaded","type":"server_error","code":503}}\n\n`,
    reading: { error: { type: 'server_error', code: '503', message: 'Overloaded' }, complete: false },
  },
]

const message = {
  role: 'assistant',
  content: 'Done.',
  refusal: null,
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'ls', arguments: '{"a":1}' } }],
}
const error = { error: { message: 'Rate limit reached', type: 'requests', param: null, code: 'rate_limit_exceeded' } }

const bodies = [
  {
    name: 'a whole body',
    stream: false,
    text: JSON.stringify({
      id: 'chatcmpl-2',
      model: 'm',
      choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
      usage,
    }),
    reading: {
      usage: counted,
      output_bytes: 12,
      model: 'm',
      response_id: 'chatcmpl-2',
      finish_reason: 'tool_calls',
      calls: [{ id: 'call_1', tool: 'ls', args: '{"a":1}' }],
      complete: true,
      error: null,
    },
  },
  {
    name: 'an error status',
    stream: false,
    status: 429,
    text: JSON.stringify(error),
    reading: { error: { type: 'requests', code: 'rate_limit_exceeded', message: 'Rate limit reached' }, usage: null },
  },
  {
    name: 'an error of a local server',
    stream: false,
    status: 404,
    text: '{"error":"model not found"}',
    reading: { error: { type: null, code: null, message: 'model not found' } },
  },
  {
    name: 'an error in a list',
    stream: false,
    status: 400,
    text: '[{"error":{"code":400,"message":"Bad","status":"INVALID"}}]',
    reading: { error: { type: 'INVALID', code: '400', message: 'Bad' } },
  },
  {
    name: 'an error page',
    stream: false,
    status: 502,
    text: '<h1>Bad Gateway</h1>',
    reading: { error: { type: null, code: null, message: '<h1>Bad Gateway</h1>' }, complete: false },
  },
  {
    name: 'a body that breaks off',
    stream: false,
    text: '{"id":"chatcmpl',
    reading: { usage: null, output_bytes: 15, complete: false },
  },
]

const request = {
  model: 'gpt-x',
  stream: true,
  max_tokens: 7,
  messages: [
    { role: 'system', content: 's' },
    { role: 'user', content: 'u' },
    message,
    { role: 'tool', tool_call_id: 'call_1', content: 'r' },
  ],
}

apiStyleConforms(chatCompletions, { requests: [request], replies: [...streams, ...bodies] })

describe('chat_completions replies', () => {
  it('leaves out a call with more than 1 MiB of arguments', () => {
    const meter = chatCompletions.meter({ status: 200, stream: true })
    const big = 'x'.repeat(300_000)
    for (let count = 0; count < 5; count++)
      meter.push(Buffer.from(tool({ index: 0, id: 'a', function: { name: 'x', arguments: big } })))
    meter.push(
      Buffer.from(tool({ index: 1, id: 'b', function: { name: 'y', arguments: '{}' } }) + finish('tool_calls') + done),
    )
    const reading = meter.end()
    assert.deepEqual(reading.calls, [{ id: 'b', tool: 'y', args: '{}' }])
    assert.equal(reading.output_bytes, 1_500_002)
  })

  it('reads usage behind an event that is too long', () => {
    const meter = chatCompletions.meter({ status: 200, stream: true })
    meter.push(Buffer.from('data: '))
    for (let count = 0; count < 9; count++) meter.push(Buffer.alloc(1024 * 1024, 'x'))
    meter.push(Buffer.from(`\n\n${usageChunk}${done}`))
    assert.deepEqual(meter.end().usage, counted)
  })

  it('gives up a body above 16 MiB', () => {
    const meter = chatCompletions.meter({ status: 200, stream: false })
    for (let count = 0; count < 17; count++) meter.push(Buffer.alloc(1024 * 1024, ' '))
    meter.push(Buffer.from('{}'))
    assert.equal(meter.end().complete, false)
  })
})
