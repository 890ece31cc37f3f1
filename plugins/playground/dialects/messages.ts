import type { Answer, ScriptedCall, ScriptedText } from '../scenario.ts'
import { type Dialect, frame, MODEL, piecesOf } from './dialect.ts'

const MAX_TOKENS = 1024

/** Messages as Anthropic's API speaks it. */
export const messages: Dialect = {
  id: 'messages',

  request: (say, stream) => {
    const system = say.flatMap((entry) => ('system' in entry ? [entry.system] : []))
    return {
      model: MODEL,
      max_tokens: MAX_TOKENS,
      ...(system.length === 0 ? {} : { system: system.join('\n') }),
      messages: say.flatMap(messageOf),
      ...(stream ? { stream } : {}),
    }
  },

  reply: (id, answer) => ({
    ...messageHead(id, { input_tokens: answer.input_tokens, output_tokens: answer.output_tokens }),
    content: [...thoughts(answer), ...textBlocks(answer), ...(answer.calls ?? []).map(toolUse)],
    stop_reason: stopOf(answer),
  }),

  events: (id, answer) => {
    const event = (data: { readonly type: string } & Readonly<Record<string, unknown>>) => frame(data, data.type)
    const block = ({ begins, deltas }: Block, index: number) => [
      event({ type: 'content_block_start', index, content_block: begins }),
      ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
      event({ type: 'content_block_stop', index }),
    ]
    const { input_tokens, output_tokens } = answer
    return [
      event({ type: 'message_start', message: messageHead(id, { input_tokens, output_tokens: 1 }) }),
      ...blocksOf(answer).flatMap(block),
      event({
        type: 'message_delta',
        delta: { stop_reason: stopOf(answer), stop_sequence: null },
        usage: { output_tokens },
      }),
      event({ type: 'message_stop' }),
    ]
  },

  error: ({ error_type, message }) => ({ type: 'error', error: { type: error_type, message } }),
}

/** A content block as it streams. */
interface Block {
  readonly begins: object
  readonly deltas: readonly object[]
}

const blocksOf = (answer: Answer): readonly Block[] => [
  ...thoughts(answer).map(({ thinking, ...block }) => ({
    begins: { ...block, thinking: '' },
    deltas: piecesOf(thinking).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
  })),
  ...textBlocks(answer).map(({ type, text }) => ({
    begins: { type, text: '' },
    deltas: piecesOf(text).map((piece) => ({ type: 'text_delta', text: piece })),
  })),
  ...(answer.calls ?? []).map((call) => ({
    begins: { ...toolUse(call), input: {} },
    deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(call.arguments) }],
  })),
]

const thoughts = ({ reasoning }: Answer) =>
  reasoning === undefined ? [] : [{ type: 'thinking', thinking: reasoning, signature: 'c2lnbmVk' }]

const textBlocks = ({ text }: Answer) => (text === undefined ? [] : [{ type: 'text', text }])

const messageHead = (id: string, usage: object) => ({
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  model: MODEL,
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage,
})

const messageOf = (entry: ScriptedText): object[] => {
  if ('system' in entry) return []
  if ('user' in entry) return [{ role: 'user', content: entry.user }]
  if ('assistant' in entry) return [{ role: 'assistant', content: entry.assistant }]
  if ('call' in entry) return [{ role: 'assistant', content: [toolUse(entry)] }]
  return [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: entry.of, content: entry.result }] }]
}

const toolUse = ({ call, arguments: input, id }: ScriptedCall) => ({ type: 'tool_use', id, name: call, input })

const stopOf = ({ calls }: Answer): string => (calls === undefined ? 'end_turn' : 'tool_use')
