import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gemini } from 'guard-gateway/plugins/api-styles/gemini'

const call = { functionCall: { name: 'read_file', args: { path: 'a.ts' } } }
const request = {
  systemInstruction: { parts: [{ text: 'Be short.' }] },
  contents: [
    { role: 'user', parts: [{ text: 'What is in a.ts?' }, { inlineData: { mimeType: 'image/png', data: 'QUJD' } }] },
    {
      role: 'model',
      parts: [{ text: 'hm', thought: true }, { text: 'Look: ' }, { ...call, thoughtSignature: 'c2ln' }],
    },
    { role: 'user', parts: [{ functionResponse: { name: 'read_file', response: { output: 'const a = 1' } } }] },
    { role: 'model', parts: [{ text: 'A constant.' }] },
    { parts: [{ text: 'And now?' }] },
  ],
  tools: [{ functionDeclarations: [{ name: 'read_file', parameters: { type: 'OBJECT' } }] }],
  generationConfig: { maxOutputTokens: 512, temperature: 0.5 },
}

const model = 'gemini-2.5-flash'

describe('gemini requests', () => {
  const parts = (element: unknown) => gemini.parts(element)
  const target = { path: `/v1beta/models/${model}:generateContent`, params: { model: `models/${model}` } }

  it('are read as other dialects are', () => {
    assert.deepEqual(request.contents.flatMap(parts), [
      { kind: 'user', text: 'What is in a.ts?', blocks: ['QUJD'] },
      { kind: 'text', text: 'Look: ' },
      { kind: 'call', tool: 'read_file', args: { path: 'a.ts' } },
      { kind: 'result', text: 'const a = 1' },
      { kind: 'text', text: 'A constant.' },
      { kind: 'user', text: 'And now?' },
    ])
    const { before, max_tokens, temperature, tools } = gemini.envelope(request, target)
    assert.deepEqual(before, [{ kind: 'system', text: 'Be short.' }])
    assert.deepEqual([max_tokens, temperature, tools], [512, 0.5, request.tools])
  })

  it('are read in the spelling of protocol buffers too', () => {
    const { before, max_tokens, tool_choice } = gemini.envelope(
      {
        system_instruction: { parts: [{ text: 'Be short.' }] },
        generation_config: { max_output_tokens: 7 },
        tool_config: { a: 1 },
        cached_content: 'cachedContents/1',
      },
      target,
    )
    assert.deepEqual(before, [
      { kind: 'system', text: 'Be short.' },
      { kind: 'system', text: '', blocks: ['cachedContents/1'] },
    ])
    assert.deepEqual([max_tokens, tool_choice], [7, { a: 1 }])
    assert.deepEqual(parts({ role: 'model', parts: [{ function_call: { name: 'f', id: 'c1' } }] }), [
      { kind: 'call', tool: 'f', args: {}, id: 'c1' },
    ])
    assert.deepEqual(parts({ role: 'user', parts: [{ function_response: { id: 'c1', response: { output: 'x' } } }] }), [
      { kind: 'result', id: 'c1', text: 'x' },
    ])
  })

  it('tell results by any of the names in use, and whether a tool failed', () => {
    const result = (response: unknown, more: object = {}) =>
      parts({ role: 'user', parts: [{ functionResponse: { name: 'f', response, ...more } }] })
    assert.deepEqual(result({ error: 'no such file' }), [{ kind: 'result', text: 'no such file', error: true }])
    assert.deepEqual(result({ result: 'x' }), [{ kind: 'result', text: 'x' }])
    assert.deepEqual(result({ content: [{ type: 'text', text: 'x' }], isError: true }), [
      { kind: 'result', text: 'x', error: true },
    ])
    assert.deepEqual(result({ rows: 3 }), [{ kind: 'result', text: '', blocks: [{ rows: 3 }] }])
    assert.deepEqual(result({ output: 'x' }, { parts: [{ inlineData: { data: 'QQ==' } }] }), [
      { kind: 'result', text: 'x', blocks: [{ inlineData: { data: 'QQ==' } }] },
    ])
  })

  it('part a turn where code ran at the provider', () => {
    const content = {
      role: 'model',
      parts: [
        { executableCode: { language: 'PYTHON', code: 'print(1)' } },
        { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1\n' } },
        { text: 'One.' },
      ],
    }
    assert.deepEqual(parts(content), [
      { kind: 'call', tool: 'code_execution', args: { code: 'print(1)', language: 'PYTHON' } },
      { kind: 'result', text: '1\n', error: false, served: true },
      { kind: 'text', text: 'One.' },
    ])
  })

  it('with text beside results are told apart from what a user says', () => {
    const answer = { functionResponse: { name: 'f', response: { output: 'x' } } }
    assert.deepEqual(parts({ role: 'user', parts: [{ text: 'note' }, answer] }), [
      { kind: 'result', text: 'x' },
      { kind: 'beside', text: 'note' },
    ])
  })
})

describe('gemini errors', () => {
  it('have the form that Google gives them', () => {
    const error = { type: 'guard_block', code: 'LOOP_EXACT', message: 'Stop.', session_id: 'ses_1', rule_id: 'r' }
    assert.deepEqual(JSON.parse(JSON.stringify(gemini.refusal(error, 'guardreq_1', 429))), {
      error: {
        code: 429,
        message: 'Stop.',
        status: 'RESOURCE_EXHAUSTED',
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
            reason: 'LOOP_EXACT',
            domain: 'guard-gateway',
            metadata: { type: 'guard_block', session_id: 'ses_1', rule_id: 'r', request_id: 'guardreq_1' },
          },
        ],
      },
    })
    const status = (code: number) => Reflect.get(Reflect.get(gemini.refusal(error, '', code), 'error'), 'status')
    assert.deepEqual([400, 413, 401, 502, 504].map(status), [
      'INVALID_ARGUMENT',
      'INVALID_ARGUMENT',
      'UNAUTHENTICATED',
      'UNAVAILABLE',
      'DEADLINE_EXCEEDED',
    ])
  })
})
