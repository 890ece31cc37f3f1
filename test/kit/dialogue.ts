/** One step of a session between a person, an agent and its tools. */
export type Step =
  | { readonly user: string }
  | { readonly assistant: string }
  | { readonly tool: string; readonly args: object; readonly result: string }

type Style = 'responses' | 'chat_completions' | 'messages'

/** How one API style writes a session down. */
export interface Dialect<S extends string = Style> {
  readonly style: S
  readonly path: string
  /** Where a stream is asked for by its path. */
  readonly stream_path?: string
  /** A request body that holds the whole session so far. `more` replaces or adds members. */
  body(steps: readonly Step[], more?: object): Record<string, unknown>
}

const definition = { type: 'object', properties: {} }

const chat: Dialect = {
  style: 'chat_completions',
  path: '/v1/chat/completions',
  body: (steps, more) => ({
    model: 'm-1',
    messages: [{ role: 'system', content: 'You write code.' }, ...steps.flatMap(chatStep)],
    tools: [{ type: 'function', function: { name: 'read_file', parameters: definition } }],
    ...more,
  }),
}

const chatStep = (step: Step, index: number): object[] => {
  if ('user' in step) return [{ role: 'user', content: step.user }]
  if ('assistant' in step) return [{ role: 'assistant', content: step.assistant }]
  const call = { name: step.tool, arguments: JSON.stringify(step.args) }
  return [
    { role: 'assistant', content: null, tool_calls: [{ id: `call_${index}`, type: 'function', function: call }] },
    { role: 'tool', tool_call_id: `call_${index}`, content: step.result },
  ]
}

const responses: Dialect = {
  style: 'responses',
  path: '/v1/responses',
  body: (steps, more) => ({
    model: 'm-1',
    instructions: 'You write code.',
    input: steps.flatMap(responsesStep),
    tools: [{ type: 'function', name: 'read_file', parameters: definition }],
    ...more,
  }),
}

const responsesStep = (step: Step, index: number): object[] => {
  if ('user' in step) return [{ role: 'user', content: [{ type: 'input_text', text: step.user }] }]
  if ('assistant' in step) return [{ role: 'assistant', content: [{ type: 'output_text', text: step.assistant }] }]
  return [
    {
      type: 'function_call',
      id: `fc_${index}`,
      call_id: `call_${index}`,
      name: step.tool,
      arguments: JSON.stringify(step.args),
    },
    { type: 'function_call_output', call_id: `call_${index}`, output: step.result },
  ]
}

const messages: Dialect = {
  style: 'messages',
  path: '/v1/messages',
  body: (steps, more) => ({
    model: 'm-1',
    max_tokens: 64,
    system: 'You write code.',
    messages: steps.flatMap(messagesStep),
    tools: [{ name: 'read_file', input_schema: definition }],
    ...more,
  }),
}

const messagesStep = (step: Step, index: number): object[] => {
  if ('user' in step) return [{ role: 'user', content: step.user }]
  if ('assistant' in step) return [{ role: 'assistant', content: [{ type: 'text', text: step.assistant }] }]
  return [
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: `toolu_${index}`, name: step.tool, input: step.args }],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `toolu_${index}`, content: step.result, is_error: false }],
    },
  ]
}

const gemini: Dialect<'gemini'> = {
  style: 'gemini',
  path: '/v1beta/models/m-1:generateContent',
  stream_path: '/v1beta/models/m-1:streamGenerateContent?alt=sse',
  body: (steps, more) => ({
    systemInstruction: { parts: [{ text: 'You write code.' }] },
    contents: steps.flatMap(geminiStep),
    tools: [{ functionDeclarations: [{ name: 'read_file', parameters: definition }] }],
    ...more,
  }),
}

const geminiStep = (step: Step): object[] => {
  if ('user' in step) return [{ role: 'user', parts: [{ text: step.user }] }]
  if ('assistant' in step) return [{ role: 'model', parts: [{ text: step.assistant }] }]
  const { tool: name, args, result: output } = step
  return [
    { role: 'model', parts: [{ functionCall: { name, args } }] },
    { role: 'user', parts: [{ functionResponse: { name, response: { output } } }] },
  ]
}

const ollama: Dialect<'ollama'> = {
  style: 'ollama',
  path: '/api/chat',
  body: (steps, more) => ({
    model: 'm-1',
    messages: [{ role: 'system', content: 'You write code.' }, ...steps.flatMap(ollamaStep)],
    tools: [{ type: 'function', function: { name: 'read_file', parameters: definition } }],
    stream: false,
    ...more,
  }),
}

const ollamaStep = (step: Step): object[] => {
  if ('user' in step) return [{ role: 'user', content: step.user }]
  if ('assistant' in step) return [{ role: 'assistant', content: step.assistant }]
  const { tool: name, args, result: content } = step
  return [
    { role: 'assistant', content: '', tool_calls: [{ function: { name, arguments: args } }] },
    { role: 'tool', tool_name: name, content },
  ]
}

/** The three API styles below /v1, the same session in each. */
export const dialects: readonly Dialect[] = [responses, chat, messages]

/** All API styles. */
export const allDialects: readonly Dialect<Style | 'gemini' | 'ollama'>[] = [...dialects, gemini, ollama]

/** The dialect of a style. */
export const dialectOf = (style: Style): Dialect =>
  style === 'responses' ? responses : style === 'messages' ? messages : chat

/** A session that gets on: a task, then so many calls, each with other arguments and another result. */
export const productive = (turns: number): Step[] => [
  { user: 'Repair the failing test.' },
  ...Array.from({ length: turns }, (_, n) => ({
    tool: 'read_file',
    args: { path: `src/part-${n}.ts` },
    result: `line ${n} of the file`,
  })),
]

/** A session that is stuck: a task, then so many equal calls with equal results. */
export const looping = (turns: number): Step[] => [
  { user: 'Repair the failing test.' },
  ...Array.from({ length: turns }, () => ({ tool: 'read_file', args: { path: 'src/a.ts' }, result: 'the same text' })),
]
