import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { responses } from 'guard-gateway/plugins/api-styles/responses'

const parts = (element: unknown) => responses.parts(element)

const read = (members: Readonly<Record<string, unknown>>, path = '/v1/responses') =>
  responses.envelope(members, { path, params: {} })

describe('responses requests', () => {
  it('reads roles, with and without a type', () => {
    for (const type of [{}, { type: 'message' }]) {
      assert.deepEqual(parts({ ...type, role: 'developer', content: 'x' }), [{ kind: 'system', text: 'x' }])
      assert.deepEqual(
        parts({
          ...type,
          role: 'user',
          content: [
            { type: 'input_text', text: 'a' },
            { type: 'input_text', text: 'b' },
          ],
        }),
        [{ kind: 'user', text: 'a b' }],
      )
      assert.deepEqual(
        parts({
          ...type,
          role: 'assistant',
          content: [
            { type: 'output_text', text: 'y' },
            { type: 'refusal', refusal: 'z' },
          ],
        }),
        [{ kind: 'text', text: 'y z' }],
      )
    }
    assert.deepEqual(
      parts({ type: 'reasoning', summary: [{ type: 'summary_text', text: 'x' }], encrypted_content: 'e' }),
      [],
    )
  })

  const table: readonly [item: Record<string, unknown>, tool: string, args: unknown, id: string][] = [
    [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }, 'f', '{}', 'c'],
    [{ type: 'function_call', call_id: 'c', name: 'f', namespace: 'docs', arguments: '{}' }, 'docs.f', '{}', 'c'],
    [
      { type: 'custom_tool_call', call_id: 'c', name: 'apply_patch', input: '*** Begin' },
      'apply_patch',
      '*** Begin',
      'c',
    ],
    [
      { type: 'local_shell_call', call_id: 'c', action: { type: 'exec', command: ['ls'] } },
      'local_shell_call',
      { type: 'exec', command: ['ls'] },
      'c',
    ],
    [{ type: 'shell_call', call_id: 'c', action: { commands: ['ls'] } }, 'shell_call', { commands: ['ls'] }, 'c'],
    [
      { type: 'apply_patch_call', call_id: 'c', operation: { type: 'delete_file', path: 'a' } },
      'apply_patch_call',
      { type: 'delete_file', path: 'a' },
      'c',
    ],
    [{ type: 'computer_call', call_id: 'c', actions: [{ type: 'wait' }] }, 'computer_call', [{ type: 'wait' }], 'c'],
    [{ type: 'tool_search_call', call_id: 'c', arguments: { query: 'q' } }, 'tool_search_call', { query: 'q' }, 'c'],
    [{ type: 'future_call', id: 'x', input: 1 }, 'future_call', 1, 'x'],
    [{ tool_name: 'g', args: { a: 1 }, call_id: 'c' }, 'g', { a: 1 }, 'c'],
  ]
  for (const [item, tool, args, id] of table) {
    it(`reads ${item.type ?? 'a generic call'}${item.namespace === undefined ? '' : ' of a namespace'}`, () =>
      assert.deepEqual(parts(item), [{ kind: 'call', tool, args, id }]))
  }

  it('reads calls with their own output', () => {
    const mcp = { type: 'mcp_call', id: 'm', server_label: 'docs', name: 'get', arguments: '{}' }
    const called = { kind: 'call', tool: 'docs.get', args: '{}', id: 'm' }
    assert.deepEqual(parts({ ...mcp, output: 'out', error: null }), [
      called,
      { kind: 'result', text: 'out', id: 'm', served: true },
    ])
    assert.deepEqual(parts({ ...mcp, output: null, error: { type: 'http_error', code: 500, message: 'no' } }), [
      called,
      { kind: 'result', text: 'no', id: 'm', error: true, served: true },
    ])
    assert.deepEqual(parts({ ...mcp, output: null, error: 'no' }), [
      called,
      { kind: 'result', text: 'no', id: 'm', error: true, served: true },
    ])
    assert.deepEqual(
      parts({ type: 'code_interpreter_call', id: 'ci', code: '1', outputs: [{ type: 'logs', logs: 'one' }] }),
      [
        { kind: 'call', tool: 'code_interpreter_call', args: '1', id: 'ci' },
        { kind: 'result', text: 'one', id: 'ci', served: true },
      ],
    )
    assert.deepEqual(parts({ type: 'image_generation_call', id: 'ig', result: 'QUJD' }).at(-1), {
      kind: 'result',
      text: '',
      id: 'ig',
      served: true,
      blocks: ['QUJD'],
    })
  })

  it('reads outputs of every form', () => {
    const output = (type: string, rest: object) => parts({ type, call_id: 'c', ...rest })
    assert.deepEqual(output('function_call_output', { id: 'fco', output: 'r' }), [
      { kind: 'result', text: 'r', id: 'c' },
    ])
    assert.deepEqual(
      output('function_call_output', {
        output: [
          { type: 'input_text', text: 'a' },
          { type: 'input_image', image_url: 'data:image/png;base64,QUJD' },
        ],
      }),
      [{ kind: 'result', text: 'a', id: 'c', blocks: ['QUJD'] }],
    )
    assert.deepEqual(output('custom_tool_call_output', { output: 'r' }), [{ kind: 'result', text: 'r', id: 'c' }])
    assert.deepEqual(
      output('shell_call_output', { output: [{ stdout: 'o', stderr: 'e', outcome: { type: 'exit', exit_code: 2 } }] }),
      [{ kind: 'result', text: 'o e', id: 'c', error: true }],
    )
    assert.deepEqual(
      output('shell_call_output', { output: [{ stdout: 'o', stderr: '', outcome: { type: 'exit', exit_code: 0 } }] }),
      [{ kind: 'result', text: 'o', id: 'c' }],
    )
    assert.deepEqual(
      output('shell_call_output', { output: [{ stdout: '', stderr: '', outcome: { type: 'timeout' } }] }),
      [{ kind: 'result', text: '', id: 'c', error: true }],
    )
    assert.deepEqual(output('apply_patch_call_output', { status: 'failed', output: 'no' }), [
      { kind: 'result', text: 'no', id: 'c', error: true },
    ])
    assert.deepEqual(
      output('computer_call_output', { output: { type: 'computer_screenshot', image_url: 'https://x/y.png' } }),
      [{ kind: 'result', text: '', id: 'c', blocks: ['https://x/y.png'] }],
    )
    assert.deepEqual(output('tool_search_output', { tools: [{ name: 'f' }], status: 'completed' }), [
      { kind: 'result', text: '', id: 'c', blocks: [[{ name: 'f' }]] },
    ])
  })

  it('keeps the id of a reference and the content of a compaction, as the model’s words', () => {
    assert.deepEqual(parts({ type: 'item_reference', id: 'msg_1' }), [
      { kind: 'text', text: '', blocks: [['item_reference', 'msg_1']] },
    ])
    assert.deepEqual(parts({ type: 'compaction', id: 'cmp', encrypted_content: 'xyz' }), [
      { kind: 'text', text: '', blocks: [['compaction', 'xyz']] },
    ])
  })

  it('takes tools in the input for definitions, and unknown items for no call', () => {
    for (const item of [
      { type: 'additional_tools', tools: [{ type: 'function', name: 'f' }] },
      { type: 'mcp_list_tools', tools: [] },
      { role: 'robot', content: 'x' },
    ]) {
      assert.deepEqual(parts(item), [{ kind: 'system', text: '', blocks: [item] }])
    }
  })

  it('reads the envelope', () => {
    const envelope = read({
      model: 'm',
      input: 'hi',
      instructions: 'be brief',
      prompt: { id: 'pmpt_1', version: '2', variables: { a: 'b' } },
      max_output_tokens: 9,
      max_tokens: 4,
      previous_response_id: 'resp_0',
      conversation: { id: 'conv_1' },
      prompt_cache_key: 'k',
    })
    assert.deepEqual(envelope.before, [
      { kind: 'system', text: 'be brief' },
      { kind: 'system', text: '', blocks: [['pmpt_1', '2', { a: 'b' }]] },
      { kind: 'user', text: 'hi' },
    ])
    assert.equal(envelope.max_tokens, 9)
    assert.equal(envelope.previous_response_id, 'resp_0')
    assert.equal(envelope.conversation, 'conv_1')
    assert.deepEqual(envelope.hints, { prompt_cache_key: 'k', conversation: 'conv_1' })
    assert.equal(read({ conversation: 'conv_2' }).conversation, 'conv_2')
  })

  it('tells a compaction from a request for an answer', () => {
    assert.equal(read({}).task, undefined)
    assert.equal(read({}, '/v1/responses/compact').task, 'compact')
  })

  it('refuses in the shape of the provider', () => {
    assert.deepEqual(responses.refusal({ type: 'not_found_error', code: 'NO_UPSTREAM', message: 'm', known: ['a'] }), {
      error: { type: 'not_found_error', code: 'NO_UPSTREAM', message: 'm', known: ['a'], param: null },
    })
  })
})
