import assert from 'node:assert/strict'
import { it } from 'node:test'
import { totalled } from 'guard-gateway/core'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { apiStyleConforms } from '../../conformance/api-style.ts'

let sequence = 0
const event = (body: { type: string } & Record<string, unknown>) =>
  `event: ${body.type}\ndata: ${JSON.stringify({ ...body, sequence_number: sequence++ })}\n\n`
const reply = (rest: object) => ({
  id: 'resp_1',
  object: 'response',
  model: 'gpt-x-2026',
  status: 'completed',
  error: null,
  incomplete_details: null,
  output: [],
  ...rest,
})
const created = event({
  type: 'response.created',
  response: reply({ status: 'in_progress', usage: null, tools: [{ type: 'error', delta: 'no' }] }),
})
const text = (delta: string) =>
  event({
    type: 'response.output_text.delta',
    item_id: 'msg_1',
    output_index: 0,
    content_index: 0,
    delta,
    logprobs: [],
    obfuscation: 'abc',
  })
const itemDone = (item: object) => event({ type: 'response.output_item.done', output_index: 0, item })
const usage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 8 },
  total_tokens: 120,
}
const counted = totalled({
  input_tokens: 30,
  cache_read_tokens: 60,
  cache_write_tokens: 10,
  output_tokens: 20,
  reasoning_tokens: 8,
})
const call = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'ls',
  arguments: '{"a":1}',
  status: 'completed',
}
const said = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
}
const completed = (rest: object) => event({ type: 'response.completed', response: reply({ usage, ...rest }) })

const replies = [
  {
    name: 'text with usage',
    stream: true,
    text: created + text('Hé') + text(' "x"\n') + itemDone(said) + completed({ output: [said] }),
    reading: {
      usage: counted,
      output_bytes: 8,
      model: 'gpt-x-2026',
      response_id: 'resp_1',
      finish_reason: 'completed',
      calls: [],
      error: null,
      complete: true,
    },
  },
  {
    name: 'calls told one by one and again at the end',
    stream: true,
    text:
      created +
      event({ type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 0, delta: '{"a":1}' }) +
      itemDone(call) +
      itemDone({ type: 'mcp_call', id: 'mcp_1', server_label: 'docs', name: 'get', arguments: '{}', output: 'x' }) +
      completed({ output: [call] }),
    reading: {
      calls: [
        { id: 'call_1', tool: 'ls', args: '{"a":1}' },
        { id: 'mcp_1', tool: 'docs.get', args: '{}' },
      ],
      output_bytes: 7,
    },
  },
  {
    name: 'calls told only at the end',
    stream: true,
    text: completed({ output: [said, call] }),
    reading: { calls: [{ id: 'call_1', tool: 'ls', args: '{"a":1}' }] },
  },
  {
    name: 'an incomplete reply',
    stream: true,
    text:
      created +
      text('abc') +
      event({
        type: 'response.incomplete',
        response: reply({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, usage }),
      }),
    reading: { finish_reason: 'max_output_tokens', complete: true, error: null, usage: counted },
  },
  {
    name: 'a failed reply',
    stream: true,
    text:
      created +
      event({
        type: 'response.failed',
        response: reply({ status: 'failed', error: { code: 'server_error', message: 'Broken' }, usage: null }),
      }),
    reading: { error: { type: null, code: 'server_error', message: 'Broken' }, complete: true, usage: null },
  },
  {
    name: 'an error event',
    stream: true,
    text: created + event({ type: 'error', code: 'rate_limit_exceeded', message: 'Slow down', param: null }),
    reading: { error: { type: null, code: 'rate_limit_exceeded', message: 'Slow down' }, complete: true },
  },
  {
    name: 'an error event of nested form without a type',
    stream: true,
    text: 'event: error\ndata: {"error":{"type":"server_error","message":"No"}}\n\n',
    reading: { error: { type: 'server_error', code: null, message: 'No' }, complete: true },
  },
  {
    name: 'members in alphabetical order, with spaces',
    stream: true,
    text: 'data: {"content_index": 0, "delta": "abc", "type": "response.output_text.delta"}\n\ndata: {"response": {"id": "r", "model": "m", "status": "completed", "usage": {"input_tokens": 0, "output_tokens": 0}}, "type": "response.completed"}\n\n',
    reading: { usage: totalled({}), output_bytes: 3, response_id: 'r', complete: true },
  },
  {
    name: 'a stream that breaks off',
    stream: true,
    text: `${created}${text('abc')}${text('"type":"response.completed"')}data: {"type":"response.completed","response":{"id"`,
    reading: { complete: false, usage: null, output_bytes: 30, calls: [] },
  },
  {
    name: 'a whole body, never below zero',
    stream: false,
    text: JSON.stringify(reply({ output: [said, call], usage: { ...usage, input_tokens: 5 } })),
    reading: {
      usage: totalled({ cache_read_tokens: 60, cache_write_tokens: 10, output_tokens: 20, reasoning_tokens: 8 }),
      output_bytes: 12,
      finish_reason: 'completed',
      calls: [{ id: 'call_1', tool: 'ls', args: '{"a":1}' }],
      complete: true,
      error: null,
    },
  },
  {
    name: 'an error status',
    stream: false,
    status: 400,
    text: '{"error":{"message":"Bad","type":"invalid_request_error","param":"input","code":null}}',
    reading: { error: { type: 'invalid_request_error', code: null, message: 'Bad' } },
  },
  {
    name: 'an error of another server',
    stream: false,
    status: 401,
    text: '{"detail":"Unauthorized"}',
    reading: { error: { type: null, code: null, message: 'Unauthorized' } },
  },
]

const request = {
  model: 'gpt-x',
  stream: true,
  instructions: 's',
  input: [
    { role: 'user', content: [{ type: 'input_text', text: 'u' }] },
    call,
    { type: 'function_call_output', call_id: 'call_1', output: 'r' },
  ],
}

apiStyleConforms(responses, { requests: [request], replies })

it('a stream of Responses whose last event is too long to read is whole, one that is cut within it is not', () => {
  for (const [end, complete] of [
    ['"}\n\n', true],
    ['', false],
  ] as const) {
    const meter = responses.meter({ status: 200, stream: true })
    meter.push(Buffer.from('data: {"type":"response.completed","image":"'))
    for (let count = 0; count < 9; count++) meter.push(Buffer.alloc(1024 * 1024, 'x'))
    meter.push(Buffer.from(end))
    assert.equal(meter.end().complete, complete)
  }
})

it('a reply of Responses names itself and what it made', () => {
  const named: string[] = []
  const item = { type: 'code_interpreter_call', id: 'ci_1', container_id: 'cntr_1', outputs: [], code: '', status: 'x' }
  const meter = responses.meter({ status: 200, stream: true, named: ({ kind, id }) => named.push(`${kind} ${id}`) })
  const text = created + itemDone(item) + completed({ output: [item] })
  meter.push(Buffer.from(text))
  meter.end()
  assert.deepEqual([...new Set(named)], ['response resp_1', 'container cntr_1', 'item ci_1'])
})
