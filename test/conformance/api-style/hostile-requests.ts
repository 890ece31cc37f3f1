/** Shapes that a style may be sent in place of a message. */
const shapes: readonly unknown[] = [
  null,
  0,
  -1,
  true,
  '',
  'text',
  [],
  {},
  [[]],
  [null],
  { role: null },
  { role: 'user' },
  { role: 'user', content: 7 },
  { role: 'user', content: [null, 1, [], {}] },
  { role: 'assistant', content: {}, tool_calls: 5 },
  { role: 'assistant', content: null, tool_calls: [null, {}, { function: 3 }, { function: { name: 4 } }] },
  { role: 'assistant', content: [{ type: 'tool_use' }, { type: 'tool_use', name: {}, input: null }] },
  { role: 'tool' },
  { role: 'tool', content: { a: 1 } },
  {
    role: 'user',
    content: [
      { type: 'tool_result', content: 5 },
      { type: 'image', source: 5 },
      { type: 'image_url', image_url: [] },
    ],
  },
  { type: 'function_call' },
  { type: 'function_call_output', output: 5 },
  { type: '_call' },
  { type: 'mcp_call', error: 5, output: null },
  { type: 'constructor' },
  { type: '__proto__' },
  { role: 'constructor' },
  { type: 'message', role: 'toString' },
  { tool_name: '' },
  { tool_name: 'x' },
  { type: 5, role: {} },
  { role: 'model', parts: 7 },
  {
    role: 'model',
    parts: [null, 1, { functionCall: 5 }, { functionCall: { name: {} } }, { text: {} }, { inlineData: 1 }],
  },
  { role: 'user', parts: [{ functionResponse: 5 }, { functionResponse: { id: {}, response: 5, parts: 7 } }, [], {}] },
  { role: 'tool', tool_name: {}, tool_call_id: 7, content: [1] },
  { role: 'user', content: 'x', images: 5 },
]

const deep = (levels: number): unknown => {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

const nested = (role: string): object => ({
  role,
  content: deep(20_000),
  parts: [
    deep(20_000),
    { functionCall: { name: 'f', args: deep(20_000) } },
    { functionResponse: { response: deep(20_000) } },
  ],
  images: deep(20_000),
})

/** What a style may be sent in place of a message: strange shapes, and such as nest deeper than any that is meant. */
export const hostile: readonly unknown[] = [...shapes, deep(20_000), ...['user', 'model', 'tool'].map(nested)]
