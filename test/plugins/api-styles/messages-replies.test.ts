import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { totalled } from 'guard-gateway/core'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { apiStyleConforms } from '../../conformance/api-style.ts'

const event = (body: { type: string } & Record<string, unknown>) =>
  `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`
const start = (usage: object) =>
  event({
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-x',
      content: [],
      stop_reason: null,
      usage,
    },
  })
const delta = (index: number, body: object) => event({ type: 'content_block_delta', index, delta: body })
const text = (words: string) => delta(0, { type: 'text_delta', text: words })
const open = (index: number, block: object) => event({ type: 'content_block_start', index, content_block: block })
const close = (index: number) => event({ type: 'content_block_stop', index })
const stop = (usage: object, reason = 'end_turn') =>
  event({ type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage }) +
  event({ type: 'message_stop' })
const ping = event({ type: 'ping' })
const first = {
  input_tokens: 25,
  cache_creation_input_tokens: 30,
  cache_read_input_tokens: 40,
  cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
  output_tokens: 1,
}
const cached = {
  input_tokens: 25,
  cache_read_tokens: 40,
  cache_write_tokens: 30,
  cache_write_5m_tokens: 10,
  cache_write_1h_tokens: 20,
}
const textBlock = open(0, { type: 'text', text: '' })

const replies = [
  {
    name: 'text; usage merged over start and delta',
    stream: true,
    text:
      start(first) +
      textBlock +
      ping +
      text('Hé') +
      text(' "x"') +
      close(0) +
      stop({ output_tokens: 15, input_tokens: null, output_tokens_details: { thinking_tokens: 4 } }),
    reading: {
      usage: totalled({ ...cached, output_tokens: 15, reasoning_tokens: 4 }),
      output_bytes: 7,
      model: 'claude-x',
      response_id: 'msg_1',
      finish_reason: 'end_turn',
      calls: [],
      error: null,
      complete: true,
    },
  },
  {
    name: 'an explicit 0 stays',
    stream: true,
    text: start({ input_tokens: 9, output_tokens: 3 }) + stop({ input_tokens: 0, output_tokens: 0 }),
    reading: { usage: totalled({}), complete: true },
  },
  {
    name: 'thinking, then calls, one without arguments',
    stream: true,
    text:
      start(first) +
      open(0, { type: 'thinking', thinking: '' }) +
      delta(0, { type: 'thinking_delta', thinking: 'hm' }) +
      delta(0, { type: 'signature_delta', signature: 'c2ln' }) +
      close(0) +
      open(1, { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: {} }) +
      delta(1, { type: 'input_json_delta', partial_json: '' }) +
      delta(1, { type: 'input_json_delta', partial_json: '{"command":"l' }) +
      delta(1, { type: 'input_json_delta', partial_json: 's"}' }) +
      close(1) +
      open(2, { type: 'mcp_tool_use', id: 'toolu_2', name: 'get', server_name: 'docs', input: {} }) +
      close(2) +
      stop({ output_tokens: 15 }, 'tool_use'),
    reading: {
      calls: [
        { id: 'toolu_1', tool: 'Bash', args: '{"command":"ls"}' },
        { id: 'toolu_2', tool: 'docs.get', args: {} },
      ],
      output_bytes: 18,
      finish_reason: 'tool_use',
      complete: true,
    },
  },
  {
    name: 'members in alphabetical order, with spaces and padding',
    stream: true,
    text: 'data: {"message": {"id": "m", "model": "x", "type": "message", "usage": {"input_tokens": 3}}, "type": "message_start"}\n\ndata: {"delta": {"text": "abc", "type": "text_delta"}, "index": 0, "type": "content_block_delta"}     \n\ndata: {"delta": {"stop_reason": "end_turn"}, "type": "message_delta", "usage": {"output_tokens": 2}}\n\ndata: {"type": "message_stop"}\n\n',
    reading: {
      usage: totalled({ input_tokens: 3, output_tokens: 2 }),
      output_bytes: 3,
      model: 'x',
      finish_reason: 'end_turn',
      complete: true,
    },
  },
  {
    name: 'text that looks like an event',
    stream: true,
    text: start(first) + text('"type":"message_stop"\n\ndata: {"type":"message_stop"}') + text('{"type":"error"}'),
    reading: { complete: false, error: null, usage: totalled({ ...cached, output_tokens: 1 }) },
  },
  {
    name: 'an error inside a stream',
    stream: true,
    text: `${start(first)}${event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })}`,
    reading: { error: { type: 'overloaded_error', code: null, message: 'Overloaded' }, complete: true },
  },
  {
    name: 'an error event without a type',
    stream: true,
    text: 'event: error\ndata: {"error":{"message":"No"}}\n\n',
    reading: { error: { type: null, code: null, message: 'No' }, complete: true },
  },
  {
    name: 'a stream that breaks off in a call',
    stream: true,
    text:
      start(first) +
      open(0, { type: 'tool_use', id: 't', name: 'x', input: {} }) +
      delta(0, { type: 'input_json_delta', partial_json: '{"a' }),
    reading: { complete: false, calls: [], output_bytes: 3 },
  },
  {
    name: 'a whole body',
    stream: false,
    text: JSON.stringify({
      id: 'msg_2',
      type: 'message',
      model: 'claude-x',
      stop_reason: 'tool_use',
      usage: { ...first, output_tokens: 12 },
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'text', text: 'Hi' },
        { type: 'tool_use', id: 't', name: 'ls', input: { a: 1 } },
      ],
    }),
    reading: {
      usage: totalled({ ...cached, output_tokens: 12 }),
      output_bytes: 11,
      response_id: 'msg_2',
      finish_reason: 'tool_use',
      calls: [{ id: 't', tool: 'ls', args: { a: 1 } }],
      complete: true,
    },
  },
  {
    name: 'an error status',
    stream: false,
    status: 529,
    text: '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}',
    reading: { error: { type: 'overloaded_error', code: null, message: 'Overloaded' }, usage: null },
  },
  {
    name: 'a message behind a byte order mark',
    stream: false,
    text: '\ufeff{"id":"msg_3","stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}',
    reading: { response_id: 'msg_3', usage: totalled({ input_tokens: 1, output_tokens: 2 }), complete: true },
  },
]

const request = {
  model: 'claude-x',
  stream: true,
  max_tokens: 10,
  system: [{ type: 'text', text: 's' }],
  messages: [
    { role: 'user', content: 'u' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'ls', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'r' }] },
  ],
}

apiStyleConforms(messages, { requests: [request], replies })

describe('messages replies', () => {
  it('keeps the reading of a body whose arguments nest too deep to print', () => {
    const nested = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const meter = messages.meter({ status: 200, stream: false })
    meter.push(
      Buffer.from(
        `{"usage":{"input_tokens":1,"output_tokens":1},"content":[{"type":"tool_use","id":"t","name":"x","input":{"a":${nested}}}]}`,
      ),
    )
    const reading = meter.end()
    assert.equal(reading.usage?.total_tokens, 2)
    assert.equal(reading.calls[0]?.id, 't')
  })
})
