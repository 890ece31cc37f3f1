import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { messages } from 'guard-gateway/plugins/api-styles/messages'

const parts = (element: unknown) => messages.parts(element)
const user = (content: unknown) => parts({ role: 'user', content })
const assistant = (content: unknown) => parts({ role: 'assistant', content })

describe('messages requests', () => {
  it('reads a string like one text block', () => {
    for (const kind of ['user', 'assistant', 'system']) {
      assert.deepEqual(
        parts({ role: kind, content: 'x' }),
        parts({ role: kind, content: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }] }),
      )
    }
    assert.deepEqual(user('x'), [{ kind: 'user', text: 'x' }])
    assert.deepEqual(assistant('x'), [{ kind: 'text', text: 'x' }])
  })

  it('puts what stands beside results after them, a part a block', () => {
    const result = {
      type: 'tool_result',
      tool_use_id: 't',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      is_error: true,
    }
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } }
    assert.deepEqual(user([{ type: 'text', text: 'x' }, result, { type: 'text', text: 'y' }, image]), [
      { kind: 'result', text: 'a b', id: 't', error: true },
      { kind: 'beside', text: 'x' },
      { kind: 'beside', text: 'y' },
      { kind: 'beside', text: '', blocks: ['QUJD'] },
    ])
  })

  it('says of an error what the block says, and nothing where it says nothing', () => {
    assert.deepEqual(user([{ type: 'tool_result', tool_use_id: 't', content: 'ok', is_error: false }]), [
      { kind: 'result', text: 'ok', id: 't', error: false },
    ])
    assert.deepEqual(user([{ type: 'tool_result', tool_use_id: 't' }]), [{ kind: 'result', text: '', id: 't' }])
  })

  it('leaves out thoughts and joins texts before calls', () => {
    const content = [
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'redacted_thinking', data: 'x' },
      { type: 'text', text: 'a' },
      { type: 'tool_use', id: 't', name: 'ls', input: { p: 1 } },
      { type: 'text', text: 'b' },
    ]
    assert.deepEqual(assistant(content), [
      { kind: 'text', text: 'a b' },
      { kind: 'call', tool: 'ls', args: { p: 1 }, id: 't' },
    ])
  })

  it('reads tools of the provider with their results in place', () => {
    const content = [
      { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'q' } },
      {
        type: 'web_search_tool_result',
        tool_use_id: 's1',
        content: [{ type: 'web_search_result', url: 'u', encrypted_content: 'e' }],
      },
      { type: 'text', text: 'then' },
      { type: 'server_tool_use', id: 's2', name: 'bash_code_execution', input: {} },
      {
        type: 'bash_code_execution_tool_result',
        tool_use_id: 's2',
        content: { type: 'bash_code_execution_result', stdout: 'out', stderr: '', return_code: 1, content: [] },
      },
      {
        type: 'web_search_tool_result',
        tool_use_id: 's3',
        content: { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' },
      },
    ]
    assert.deepEqual(assistant(content), [
      { kind: 'call', tool: 'web_search', args: { query: 'q' }, id: 's1' },
      {
        kind: 'result',
        text: '',
        id: 's1',
        served: true,
        blocks: [{ type: 'web_search_result', url: 'u', encrypted_content: 'e' }],
      },
      { kind: 'text', text: 'then' },
      { kind: 'call', tool: 'bash_code_execution', args: {}, id: 's2' },
      { kind: 'result', text: 'out', id: 's2', error: true, served: true },
      {
        kind: 'result',
        text: '',
        id: 's3',
        served: true,
        blocks: [{ type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' }],
        error: true,
      },
    ])
  })

  it('skips the billing block of the system prompt, also in mid-conversation', () => {
    const billing = { type: 'text', text: 'x-anthropic-billing-header: cc_version=1' }
    assert.deepEqual(
      messages.envelope({ system: [billing, { type: 'text', text: 'a' }, { type: 'text', text: 'b' }] }).before,
      [{ kind: 'system', text: 'a b' }],
    )
    assert.deepEqual(parts({ role: 'system', content: [billing] }), [])
    assert.deepEqual(parts({ role: 'system', content: ` \n${billing.text}` }), [])
    assert.equal(parts({ role: 'system', content: `\u00a0${billing.text}` }).length, 1)
    assert.deepEqual(messages.envelope({ system: 'plain' }).before, [{ kind: 'system', text: 'plain' }])
  })

  it('hands over sources of documents and images', () => {
    const content = [
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'doc' }, title: 't' },
      { type: 'image', source: { type: 'url', url: 'https://x/y.png' } },
      { type: 'image', source: { type: 'file', file_id: 'file_1' } },
    ]
    assert.deepEqual(user(content), [{ kind: 'user', text: '', blocks: ['doc', 'https://x/y.png', 'file_1'] }])
  })

  it('reads generic calls as item, block and body', () => {
    const call = { tool_name: 'run', tool_input: { a: 1 }, call_id: 'c' }
    const part = { kind: 'call', tool: 'run', args: { a: 1 }, id: 'c' }
    assert.deepEqual(parts(call), [part])
    assert.deepEqual(assistant([call]), [part])
    assert.deepEqual(user([call]), [part])
    assert.deepEqual(messages.envelope({ ...call, model: 'm' }).after, [part])
  })

  it('reads limits and hints', () => {
    const envelope = messages.envelope({
      model: 'm',
      max_tokens: 5,
      metadata: { user_id: '{"session_id":"x"}' },
      tools: [1],
      tool_choice: { type: 'auto' },
    })
    assert.equal(envelope.max_tokens, 5)
    assert.deepEqual(envelope.hints, { 'metadata.user_id': '{"session_id":"x"}' })
    assert.deepEqual([envelope.tools, envelope.tool_choice], [[1], { type: 'auto' }])
  })

  it('refuses in the shape of the provider', () => {
    assert.deepEqual(
      messages.refusal(
        { type: 'guard_block', code: 'LOOP_EXACT', message: 'm', session_id: 's', rule_id: 'r' },
        'guardreq_1',
      ),
      {
        type: 'error',
        error: { type: 'guard_block', code: 'LOOP_EXACT', message: 'm', session_id: 's', rule_id: 'r' },
        request_id: 'guardreq_1',
      },
    )
  })
})
