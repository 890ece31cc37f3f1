import type { Gateway } from 'guard-gateway/core'
import type { Answer, ScriptedCall, ScriptedText } from '../scenario.ts'
import { CREATED, type Dialect, frame, MODEL, piecesOf } from './dialect.ts'
import { messages } from './messages.ts'
import { responses } from './responses.ts'

/** Chat Completions as OpenAI's API speaks it. */
export const chatCompletions: Dialect = {
  id: 'chat_completions',

  request: (say, stream) => ({
    model: MODEL,
    messages: say.map(messageOf),
    ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
  }),

  reply: (id, answer) => ({
    id: `chatcmpl-${id}`,
    object: 'chat.completion',
    created: CREATED,
    model: MODEL,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: answer.text ?? null,
          ...(answer.reasoning === undefined ? {} : { reasoning_content: answer.reasoning }),
          ...(answer.calls === undefined ? {} : { tool_calls: answer.calls.map(toolCall) }),
        },
        finish_reason: finishOf(answer),
      },
    ],
    usage: usageOf(answer),
  }),

  events: (id, answer) => {
    const chunk = (choices: readonly object[], usage: object | null = null) =>
      frame({
        id: `chatcmpl-${id}`,
        object: 'chat.completion.chunk',
        created: CREATED,
        model: MODEL,
        choices,
        usage,
      })
    const delta = (piece: object, finish_reason: string | null = null) =>
      chunk([{ index: 0, delta: piece, finish_reason }])
    return [
      delta({ role: 'assistant', content: '' }),
      ...piecesOf(answer.reasoning ?? '').map((reasoning_content) => delta({ reasoning_content })),
      ...piecesOf(answer.text ?? '').map((content) => delta({ content })),
      ...(answer.calls ?? []).map((call, index) => delta({ tool_calls: [{ index, ...toolCall(call) }] })),
      delta({}, finishOf(answer)),
      chunk([], usageOf(answer)),
      'data: [DONE]\n\n',
    ]
  },

  error: ({ error_type, message }) => ({ error: { message, type: error_type, param: null, code: null } }),
}

const messageOf = (entry: ScriptedText): object => {
  if ('system' in entry) return { role: 'system', content: entry.system }
  if ('user' in entry) return { role: 'user', content: entry.user }
  if ('assistant' in entry) return { role: 'assistant', content: entry.assistant }
  if ('call' in entry) return { role: 'assistant', content: null, tool_calls: [toolCall(entry)] }
  return { role: 'tool', tool_call_id: entry.of, content: entry.result }
}

const toolCall = ({ call, arguments: args, id }: ScriptedCall) => ({
  id,
  type: 'function',
  function: { name: call, arguments: JSON.stringify(args) },
})

const finishOf = ({ calls }: Answer): string => (calls === undefined ? 'stop' : 'tool_calls')

const usageOf = ({ input_tokens, output_tokens }: Answer) => ({
  prompt_tokens: input_tokens,
  completion_tokens: output_tokens,
  total_tokens: input_tokens + output_tokens,
})

const dialects: readonly Dialect[] = [chatCompletions, messages, responses]

/** Ids of the API styles that the gateway serves and scenarios can be written in; the first is what a run is in if nothing else is said. */
export const stylesOf = ({ apiStyles }: Gateway): readonly string[] =>
  dialects.map(({ id }) => id).filter((id) => apiStyles.get(id) !== undefined)

/** The dialect of an API style; undefined if the Playground does not have it. */
export const dialectOf = (style: string): Dialect | undefined => dialects.find(({ id }) => id === style)
