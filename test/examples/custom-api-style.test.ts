import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiStyleConforms, startService } from 'guard-gateway/test'
import { cohereChat } from '../../examples/custom-api-style.ts'

const call = { id: 'c1', type: 'function', function: { name: 'read_file', arguments: '{"path":"a.ts"}' } }
const messages = [
  { role: 'system', content: 'Be short.' },
  { role: 'user', content: [{ type: 'text', text: 'What is in a.ts?' }] },
  { role: 'assistant', tool_calls: [call] },
  { role: 'tool', tool_call_id: 'c1', content: 'const a = 1' },
]
const request = { model: 'command-a-03-2025', messages }
const usage = { tokens: { input_tokens: 71, output_tokens: 5 } }

const events = [
  { type: 'message-start', id: 'r1', delta: { message: { role: 'assistant' } } },
  { type: 'content-delta', index: 0, delta: { message: { content: { text: 'Look: ' } } } },
  {
    type: 'tool-call-start',
    index: 0,
    delta: { message: { tool_calls: { ...call, function: { name: 'read_file' } } } },
  },
  { type: 'tool-call-delta', index: 0, delta: { message: { tool_calls: { function: { arguments: '{"path":' } } } } },
  { type: 'tool-call-delta', index: 0, delta: { message: { tool_calls: { function: { arguments: '"b.ts"}' } } } } },
  { type: 'tool-call-end', index: 0 },
  { type: 'message-end', delta: { finish_reason: 'TOOL_CALL', usage } },
]
const whole = {
  id: 'r2',
  finish_reason: 'COMPLETE',
  message: { content: [{ type: 'text', text: 'A constant.' }] },
  usage,
}

apiStyleConforms(cohereChat, {
  requests: [request],
  replies: [
    {
      name: 'a stream with a call',
      stream: true,
      text: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
      reading: {
        response_id: 'r1',
        finish_reason: 'TOOL_CALL',
        complete: true,
        output_bytes: 21,
        calls: [{ id: 'c1', tool: 'read_file', args: '{"path":"b.ts"}' }],
      },
    },
    {
      name: 'a whole reply',
      stream: false,
      text: JSON.stringify(whole),
      reading: { response_id: 'r2', finish_reason: 'COMPLETE', complete: true, output_bytes: 11, calls: [] },
    },
  ],
})

test('a gateway forwards the style, counts its tokens and sees its loops', async () => {
  await using service = await startService({
    plugins: [cohereChat],
    upstreams: (url) => `[{ name: cohere, base_url: "${url}", styles: [cohere_chat] }]`,
  })
  await service.policy({ mode: 'enforce', rules: [{ rule_type: 'exact_repeat', threshold: 2, window_size: 10 }] })
  const headers = { 'x-guard-session-id': 'mine' }
  service.provider.script({ body: JSON.stringify(whole) })

  const first = await service.request('POST', '/v2/chat', request, headers)
  assert.deepEqual([first.status, first.json], [200, whole])
  assert.equal(service.provider.last.path, '/v2/chat')
  assert.equal((await service.session('mine')).total_tokens, 76)

  const second = await service.request('POST', '/v2/chat', request, headers)
  const { message, error } = second.json as { message: string; error: { code: string } }
  assert.deepEqual([second.status, error.code], [429, 'LOOP_EXACT'])
  assert.match(message, /^Guard blocked this request/)

  const keyless = await service.request('POST', '/v2/chat', request, { authorization: '' })
  assert.deepEqual([keyless.status, Object.keys(keyless.json as object)], [401, ['message', 'error']])
})
