/** A tool call of a reply, and what the next request says of it. */
export interface ToolCallTold {
  readonly id: string
  readonly tool: string
  readonly args: object
  /** Absent: the next request holds no result. */
  readonly result?: string
  readonly failed?: boolean
}

/** How one API style asks for tools in a reply, and gives their results in a request. */
export interface ToolDialect {
  readonly style: string
  readonly path: string
  reply(calls: readonly ToolCallTold[]): object
  /** A request that holds a task, and turns with their results. */
  body(turns: readonly (readonly ToolCallTold[])[]): object
}

const TASK = 'Repair the failing test.'
const answered = (calls: readonly ToolCallTold[]) => calls.filter(({ result }) => result !== undefined)
/** Where a style has no flag, the text tells of a failure. */
const textOf = ({ result = '', failed = false }: ToolCallTold): string => (failed ? `Exit code 1\n${result}` : result)

const messages: ToolDialect = {
  style: 'messages',
  path: '/v1/messages',
  reply: (calls) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm-1',
    content: calls.map(({ id, tool, args }) => ({ type: 'tool_use', id, name: tool, input: args })),
    stop_reason: 'tool_use',
    usage: { input_tokens: 20, output_tokens: 5 },
  }),
  body: (turns) => ({
    model: 'm-1',
    max_tokens: 64,
    messages: [
      { role: 'user', content: TASK },
      ...turns.flatMap((calls) => [
        {
          role: 'assistant',
          content: calls.map(({ id, tool, args }) => ({ type: 'tool_use', id, name: tool, input: args })),
        },
        {
          role: 'user',
          content: answered(calls).map(({ id, result, failed = false }) => ({
            type: 'tool_result',
            tool_use_id: id,
            content: result,
            ...(failed ? { is_error: true } : {}),
          })),
        },
      ]),
    ],
  }),
}

const callIn = ({ id, tool, args }: ToolCallTold) => ({
  id,
  type: 'function',
  function: { name: tool, arguments: JSON.stringify(args) },
})

const chat: ToolDialect = {
  style: 'chat_completions',
  path: '/v1/chat/completions',
  reply: (calls) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model: 'm-1',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: null, tool_calls: calls.map(callIn) },
        finish_reason: 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 },
  }),
  body: (turns) => ({
    model: 'm-1',
    messages: [
      { role: 'user', content: TASK },
      ...turns.flatMap((calls) => [
        { role: 'assistant', content: null, tool_calls: calls.map(callIn) },
        ...answered(calls).map((call) => ({ role: 'tool', tool_call_id: call.id, content: textOf(call) })),
      ]),
    ],
  }),
}

const item = ({ id, tool, args }: ToolCallTold) => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: tool,
  arguments: JSON.stringify(args),
})
/** Results as Codex frames them. */
export const outputsOf = (calls: readonly ToolCallTold[]): readonly object[] =>
  answered(calls).map(({ id, result, failed = false }) => ({
    type: 'function_call_output',
    call_id: id,
    output: `Exit code: ${failed ? 1 : 0}\nWall time: 0.1 seconds\nOutput:\n${result}`,
  }))

export const responses: ToolDialect = {
  style: 'responses',
  path: '/v1/responses',
  reply: (calls) => ({
    id: `resp_${calls[0]?.id ?? 'end'}`,
    object: 'response',
    model: 'm-1',
    status: 'completed',
    output: calls.map(item),
    usage: { input_tokens: 20, output_tokens: 5, total_tokens: 25 },
  }),
  body: (turns) => ({
    model: 'm-1',
    input: [{ role: 'user', content: TASK }, ...turns.flatMap((calls) => [...calls.map(item), ...outputsOf(calls)])],
  }),
}

const gemini: ToolDialect = {
  style: 'gemini',
  path: '/v1beta/models/m-1:generateContent',
  reply: (calls) => ({
    candidates: [
      {
        content: { role: 'model', parts: calls.map(({ tool: name, args }) => ({ functionCall: { name, args } })) },
        finishReason: 'STOP',
        index: 0,
      },
    ],
    usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 5, totalTokenCount: 25 },
    modelVersion: 'm-1',
  }),
  body: (turns) => ({
    contents: [
      { role: 'user', parts: [{ text: TASK }] },
      ...turns.flatMap((calls) => [
        { role: 'model', parts: calls.map(({ tool: name, args }) => ({ functionCall: { name, args } })) },
        {
          role: 'user',
          parts: answered(calls).map((call) => ({
            functionResponse: { name: call.tool, response: { output: textOf(call) } },
          })),
        },
      ]),
    ],
  }),
}

const ollama: ToolDialect = {
  style: 'ollama',
  path: '/api/chat',
  reply: (calls) => ({
    model: 'm-1',
    created_at: '2026-01-02T03:04:05.678Z',
    message: {
      role: 'assistant',
      content: '',
      tool_calls: calls.map(({ tool: name, args }) => ({ function: { name, arguments: args } })),
    },
    done: true,
    done_reason: 'stop',
    prompt_eval_count: 20,
    eval_count: 5,
  }),
  body: (turns) => ({
    model: 'm-1',
    stream: false,
    messages: [
      { role: 'user', content: TASK },
      ...turns.flatMap((calls) => [
        {
          role: 'assistant',
          content: '',
          tool_calls: calls.map(({ tool: name, args }) => ({ function: { name, arguments: args } })),
        },
        ...answered(calls).map((call) => ({ role: 'tool', tool_name: call.tool, content: textOf(call) })),
      ]),
    ],
  }),
}

export const toolDialects: readonly ToolDialect[] = [messages, chat, responses, gemini, ollama]
