import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'

const parts = (element: unknown) => chatCompletions.parts(element)

describe('chat_completions requests', () => {
  it('reads roles', () => {
    assert.deepEqual(parts({ role: 'developer', content: 'x' }), [{ kind: 'system', text: 'x' }])
    assert.deepEqual(
      parts({
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      }),
      [{ kind: 'user', text: 'a b' }],
    )
    assert.deepEqual(parts({ role: 'assistant', content: null, refusal: 'no' }), [{ kind: 'text', text: 'no' }])
    assert.deepEqual(parts({ role: 'function', name: 'f', content: 'r' }), [{ kind: 'result', text: 'r' }])
    assert.deepEqual(parts({ role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'r' }] }), [
      { kind: 'result', id: 'c', text: 'r' },
    ])
  })

  it('reads calls of every form', () => {
    const calls = [
      { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } },
      { id: 'b', type: 'custom', custom: { name: 'c', input: 'raw' } },
      { tool_name: 'g', args: { x: 1 } },
    ]
    assert.deepEqual(
      parts({ role: 'assistant', content: 't', tool_calls: calls, function_call: { name: 'old', arguments: '1' } }),
      [
        { kind: 'text', text: 't' },
        { kind: 'call', tool: 'f', args: '{}', id: 'a' },
        { kind: 'call', tool: 'c', args: 'raw', id: 'b' },
        { kind: 'call', tool: 'g', args: { x: 1 } },
        { kind: 'call', tool: 'old', args: '1' },
      ],
    )
  })

  it('hands over the data of images, files and sound', () => {
    const content = [
      { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD', detail: 'low' } },
      { type: 'image_url', image_url: { url: 'https://x/y.png' } },
      { type: 'input_audio', input_audio: { data: 'QQ==', format: 'wav' } },
      { type: 'file', file: { file_id: 'file-1', filename: 'a.pdf' } },
      { type: 'new_thing', id: 'n', value: 1 },
    ]
    assert.deepEqual(parts({ role: 'user', content }), [
      {
        kind: 'user',
        text: '',
        blocks: ['QUJD', 'https://x/y.png', 'QQ==', 'file-1', { type: 'new_thing', id: 'n', value: 1 }],
      },
    ])
  })

  it('reads the envelope, with the names of older clients', () => {
    const envelope = chatCompletions.envelope({
      model: 'm',
      max_completion_tokens: 9,
      max_tokens: 5,
      functions: [{ name: 'f' }],
      function_call: 'auto',
      tool_name: 'run',
      arguments: '{}',
      prompt_cache_key: 'ses_1',
      metadata: { user_id: 'u', other: 5 },
    })
    assert.equal(envelope.max_tokens, 9)
    assert.equal(envelope.stream, false)
    assert.deepEqual(envelope.tools, [{ name: 'f' }])
    assert.equal(envelope.tool_choice, 'auto')
    assert.deepEqual(envelope.after, [{ kind: 'call', tool: 'run', args: '{}' }])
    assert.deepEqual(envelope.hints, { 'metadata.user_id': 'u', prompt_cache_key: 'ses_1' })
  })

  it('takes text in place of messages as the user’s', () => {
    assert.deepEqual(chatCompletions.envelope({ messages: 'hi' }).before, [{ kind: 'user', text: 'hi' }])
  })

  it('refuses in the shape of the provider', () => {
    assert.deepEqual(chatCompletions.refusal({ type: 'guard_block', code: 'LOOP_EXACT', message: 'm' }), {
      error: { type: 'guard_block', code: 'LOOP_EXACT', message: 'm', param: null },
    })
  })
})
