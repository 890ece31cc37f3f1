import type { Answer, ScriptedCall, ScriptedText } from '../scenario.ts'
import { CREATED, type Dialect, frame, MODEL, piecesOf } from './dialect.ts'

/** Responses as OpenAI's API speaks it. */
export const responses: Dialect = {
  id: 'responses',

  request: (say, stream) => ({ model: MODEL, input: say.map(itemOf), ...(stream ? { stream } : {}) }),

  reply: (id, answer) => ({ ...head(id, 'completed'), output: outputOf(id, answer), usage: usageOf(answer) }),

  events: (id, answer) => {
    let sequence_number = 0
    const event = (type: string, data: object) => frame({ type, sequence_number: sequence_number++, ...data }, type)
    const output = outputOf(id, answer)
    return [
      event('response.created', { response: { ...head(id, 'in_progress'), output: [], usage: null } }),
      ...(answer.text === undefined ? [] : textEvents(event, id, answer.text)),
      ...output.map((item, index) => event('response.output_item.done', { output_index: index, item })),
      event('response.completed', { response: responses.reply(id, answer) }),
    ]
  },

  error: ({ error_type, message }) => ({ error: { message, type: error_type, param: null, code: null } }),
}

const head = (id: string, status: string) => ({
  id: `resp_${id}`,
  object: 'response',
  created_at: CREATED,
  status,
  error: null,
  incomplete_details: null,
  model: MODEL,
})

/** The events before a message is done. */
const textEvents = (event: (type: string, data: object) => string, id: string, text: string): readonly string[] => {
  const place = { item_id: `msg_${id}`, output_index: 0, content_index: 0 }
  const part = { type: 'output_text', annotations: [] }
  const item = { ...messageItem(id), status: 'in_progress', content: [] }
  return [
    event('response.output_item.added', { output_index: 0, item }),
    event('response.content_part.added', { ...place, part: { ...part, text: '' } }),
    ...piecesOf(text).map((delta) => event('response.output_text.delta', { ...place, delta })),
    event('response.output_text.done', { ...place, text }),
    event('response.content_part.done', { ...place, part: { ...part, text } }),
  ]
}

const messageItem = (id: string) => ({ id: `msg_${id}`, type: 'message', role: 'assistant' })

const outputOf = (id: string, { reasoning, text, calls = [] }: Answer): readonly object[] => [
  ...(reasoning === undefined
    ? []
    : [{ id: `rs_${id}`, type: 'reasoning', summary: [{ type: 'summary_text', text: reasoning }] }]),
  ...(text === undefined
    ? []
    : [{ ...messageItem(id), status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] }]),
  ...calls.map((call) => ({ ...functionCall(call), status: 'completed' })),
]

const itemOf = (entry: ScriptedText): object => {
  if ('system' in entry) return { role: 'system', content: entry.system }
  if ('user' in entry) return { role: 'user', content: entry.user }
  if ('assistant' in entry) return { role: 'assistant', content: entry.assistant }
  if ('call' in entry) return functionCall(entry)
  return { type: 'function_call_output', call_id: entry.of, output: entry.result }
}

const functionCall = ({ call, arguments: args, id }: ScriptedCall) => ({
  type: 'function_call',
  call_id: id,
  name: call,
  arguments: JSON.stringify(args),
})

const usageOf = ({ input_tokens, output_tokens }: Answer) => ({
  input_tokens,
  output_tokens,
  total_tokens: input_tokens + output_tokens,
})
