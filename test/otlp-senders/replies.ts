import { join } from 'node:path'
import { isJsonObject, type JsonObject, listOf } from '../../plugins/lib/json.ts'

/** A request to the provider. */
export interface Asked {
  readonly body: JsonObject
  readonly text: string
  readonly model: string
  readonly isStream: boolean
  /** Where the agent works. */
  readonly folder: string
}

export interface Answer {
  readonly status?: number
  readonly type?: string
  readonly body: string
}

const REPLY = 'CANARYreply: done'
const THOUGHT = 'CANARYthought about the file'
const FILE = 'CANARYargument.txt'
/** A path is kept where it stands as an attribute of its own, so it holds no canary. */
const REAL_FILE = 'notes.txt'

/** Whether the request tells a tool's result, so that the work can end. */
const hasResult = ({ text }: Asked): boolean =>
  /"role":\s*"tool"|"tool_result"|function_call_output|"functionResponse":|custom_tool_call_output/.test(text)

interface Tool {
  readonly name: string
  readonly args: object
}

/** The tool to ask for: one that reads a file, else one that runs a command. Undefined without tools. */
const toolIn = ({ body, folder }: Asked): Tool | undefined => {
  const tools = listOf(body.tools).flatMap((tool) => {
    if (!isJsonObject(tool)) return []
    return isJsonObject(tool.function) ? [tool.function] : [tool, ...listOf(tool.functionDeclarations)]
  })
  const named = tools.filter(isJsonObject).map(({ name }) => String(name))
  const file = join(folder, REAL_FILE)
  const found = known.find(([name]) => named.includes(name))
  return found && { name: found[0], args: found[1](file) }
}

const known: readonly (readonly [string, (file: string) => object])[] = [
  ['read_file', (file) => ({ path: FILE, file_path: file })],
  ['Read', (file_path) => ({ file_path })],
  ['exec_command', (file) => ({ cmd: `cat ${file}` })],
  ['shell_command', (file) => ({ command: `cat ${file}` })],
  ['shell', (file) => ({ command: ['cat', file] })],
]

const json = (body: object): Answer => ({ body: JSON.stringify(body) })
const events = (parts: readonly object[], named: boolean, end = ''): Answer => ({
  type: 'text/event-stream',
  body:
    parts
      .map((part) => `${named ? `event: ${Reflect.get(part, 'type')}\n` : ''}data: ${JSON.stringify(part)}\n\n`)
      .join('') + end,
})

/** Chat Completions. Input holds the cached part, output the reasoning. */
export const chat = (asked: Asked): Answer => {
  const ended = hasResult(asked)
  const tool = ended ? undefined : toolIn(asked)
  const calls = tool && [
    { id: 'call_1', type: 'function', function: { name: tool.name, arguments: JSON.stringify(tool.args) } },
  ]
  const message = {
    role: 'assistant',
    content: calls === undefined ? REPLY : null,
    ...(calls && { tool_calls: calls }),
  }
  const usage = {
    prompt_tokens: ended ? 1002 : 1001,
    completion_tokens: ended ? 22 : 21,
    total_tokens: ended ? 1024 : 1022,
    prompt_tokens_details: { cached_tokens: 400 },
    completion_tokens_details: { reasoning_tokens: 5 },
  }
  const common = { id: `chatcmpl_${ended ? 2 : 1}`, created: 1_782_000_000, model: asked.model }
  const finish_reason = calls === undefined ? 'stop' : 'tool_calls'
  if (!asked.isStream)
    return json({ ...common, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage })
  const delta = { ...message, ...(calls && { tool_calls: calls.map((call, index) => ({ index, ...call })) }) }
  const chunk = { ...common, object: 'chat.completion.chunk' }
  return events(
    [
      { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }] },
      { ...chunk, choices: [], usage },
    ],
    false,
    'data: [DONE]\n\n',
  )
}

/** Messages. Input stands beside what is read from and written to the cache. */
export const messages = (asked: Asked): Answer => {
  const ended = hasResult(asked)
  const tool = ended ? undefined : toolIn(asked)
  const content =
    tool === undefined
      ? [{ type: 'text', text: REPLY }]
      : [{ type: 'tool_use', id: 'toolu_1', name: tool.name, input: tool.args }]
  const usage = {
    input_tokens: ended ? 1002 : 1001,
    cache_read_input_tokens: 4000,
    cache_creation_input_tokens: 300,
    cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
    output_tokens: ended ? 22 : 21,
    service_tier: 'standard',
  }
  const stop_reason = tool === undefined ? 'end_turn' : 'tool_use'
  const id = `msg_${ended ? 2 : 1}`
  const message = { id, type: 'message', role: 'assistant', model: asked.model, stop_sequence: null }
  if (!asked.isStream) return json({ ...message, content, stop_reason, usage })
  const block = tool === undefined ? { type: 'text', text: '' } : { ...content[0], input: {} }
  const delta =
    tool === undefined
      ? { type: 'text_delta', text: REPLY }
      : { type: 'input_json_delta', partial_json: JSON.stringify(tool.args) }
  const start = { ...usage, output_tokens: 1 }
  return events(
    [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage: start } },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ],
    true,
  )
}

/** Responses. Counts as in Chat Completions. */
export const responses = (asked: Asked): Answer => {
  const ended = hasResult(asked)
  const tool = ended ? undefined : toolIn(asked)
  const status = 'completed'
  const item =
    tool === undefined
      ? { type: 'message', id: 'item_1', role: 'assistant', status, content: [outputText(REPLY)] }
      : {
          type: 'function_call',
          id: 'item_1',
          call_id: 'call_1',
          status,
          name: tool.name,
          arguments: JSON.stringify(tool.args),
        }
  const usage = {
    input_tokens: ended ? 1002 : 1001,
    input_tokens_details: { cached_tokens: 400 },
    output_tokens: ended ? 22 : 21,
    output_tokens_details: { reasoning_tokens: 5 },
    total_tokens: ended ? 1024 : 1022,
  }
  const common = {
    id: `resp_${ended ? 2 : 1}`,
    object: 'response',
    created_at: 1_782_000_000,
    model: asked.model,
    tools: [],
    parallel_tool_calls: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    tool_choice: 'auto',
  }
  const response = { ...common, status, output: [item], usage }
  if (!asked.isStream) return json(response)
  const begun = { ...common, status: 'in_progress', output: [], usage: null }
  const text = { item_id: 'item_1', output_index: 0, content_index: 0 }
  const between =
    tool === undefined
      ? [
          { type: 'response.content_part.added', ...text, part: outputText('') },
          { type: 'response.output_text.delta', ...text, delta: REPLY },
          { type: 'response.output_text.done', ...text, text: REPLY },
          { type: 'response.content_part.done', ...text, part: outputText(REPLY) },
        ]
      : [
          { type: 'response.function_call_arguments.delta', ...text, delta: JSON.stringify(tool.args) },
          { type: 'response.function_call_arguments.done', ...text, arguments: JSON.stringify(tool.args) },
        ]
  const empty = tool === undefined ? { ...item, content: [] } : { ...item, arguments: '' }
  return events(
    [
      { type: 'response.created', response: begun },
      { type: 'response.output_item.added', output_index: 0, item: { ...empty, status: 'in_progress' } },
      ...between,
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response },
    ].map((part, sequence_number) => ({ ...part, sequence_number })),
    true,
  )
}

const outputText = (text: string): object => ({ type: 'output_text', text, annotations: [] })

/** Gemini. Thoughts stand beside the candidates, the cached part is in the prompt. */
export const generateContent = (asked: Asked): Answer => {
  const ended = hasResult(asked)
  const tool = ended ? undefined : toolIn(asked)
  const part = tool === undefined ? { text: REPLY } : { functionCall: { name: tool.name, args: tool.args } }
  const body = {
    candidates: [
      { index: 0, content: { role: 'model', parts: [{ text: THOUGHT, thought: true }, part] }, finishReason: 'STOP' },
    ],
    usageMetadata: {
      promptTokenCount: ended ? 1002 : 1001,
      cachedContentTokenCount: 400,
      candidatesTokenCount: ended ? 17 : 16,
      thoughtsTokenCount: 5,
      totalTokenCount: ended ? 1024 : 1022,
    },
    modelVersion: asked.model,
    responseId: `gen_${ended ? 2 : 1}`,
  }
  return asked.isStream ? events([body], false) : json(body)
}
