import type { WholeReply } from '../kit/replies.ts'

/** A tool call that a model makes. */
export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly args?: object
  /** Free text, which Responses has in the place of arguments. */
  readonly input?: string
  /** Of the prompt, as the reply tells them. */
  readonly tokens?: number
  /** Of these tokens, so many were read from a cache; as many again were written to one. */
  readonly cached?: number
}

const json = (body: object): WholeReply => ({ type: 'application/json', body: JSON.stringify(body) })
const events = (...bodies: readonly object[]): WholeReply => ({
  type: 'text/event-stream',
  body: bodies
    .map((body) => {
      const type = Reflect.get(body, 'type')
      return `${typeof type === 'string' ? `event: ${type}\n` : ''}data: ${JSON.stringify(body)}\n\n`
    })
    .join(''),
})

/** A tool call as Chat Completions tells it. */
export const chatCall = (stream: boolean, { id, name, args, tokens = 20 }: ToolCall): WholeReply => {
  const common = { id: `chatcmpl-${id}`, created: 1_700_000_000, model: 'm-1' }
  const call = { index: 0, id, type: 'function', function: { name, arguments: JSON.stringify(args) } }
  const usage = { prompt_tokens: tokens, completion_tokens: 5, total_tokens: tokens + 5 }
  if (!stream) {
    const message = { role: 'assistant', content: null, tool_calls: [call] }
    return json({
      ...common,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
      usage,
    })
  }
  const chunk = (delta: object, finish_reason: string | null) => ({
    ...common,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  })
  const { body, type } = events(chunk({ role: 'assistant', content: '' }, null), chunk({ tool_calls: [call] }, null), {
    ...chunk({}, 'tool_calls'),
    usage,
  })
  return { type, body: `${body}data: [DONE]\n\n` }
}

const messagesCache = (tokens: number): object => ({
  cache_read_input_tokens: tokens,
  cache_creation_input_tokens: tokens,
  cache_creation: { ephemeral_5m_input_tokens: tokens - 100, ephemeral_1h_input_tokens: 100 },
})

/** A tool call as Messages tells it. */
export const messagesCall = (stream: boolean, { id, name, args, tokens = 20, cached }: ToolCall): WholeReply => {
  const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model: 'm-1', stop_sequence: null }
  const usage = { input_tokens: tokens, output_tokens: 5, ...(cached === undefined ? {} : messagesCache(cached)) }
  if (!stream)
    return json({ ...message, content: [{ type: 'tool_use', id, name, input: args }], stop_reason: 'tool_use', usage })
  return events(
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } },
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id, name, input: {} } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: JSON.stringify(args) } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage },
    { type: 'message_stop' },
  )
}

/** A tool call as Responses tells it. */
export const responsesCall = (
  stream: boolean,
  { id, name, args, input, tokens = 20, cached }: ToolCall,
): WholeReply => {
  const common = { call_id: id, name, status: 'completed' }
  const item =
    input === undefined
      ? { type: 'function_call', id: `fc_${id}`, ...common, arguments: JSON.stringify(args) }
      : { type: 'custom_tool_call', id: `ctc_${id}`, ...common, input }
  const begun = { ...item, ...(input === undefined ? { arguments: '' } : { input: '' }), status: 'in_progress' }
  const usage = {
    input_tokens: tokens,
    ...(cached === undefined ? {} : { input_tokens_details: { cached_tokens: cached } }),
    output_tokens: 5,
    total_tokens: tokens + 5,
  }
  const response = { id: `resp_${id}`, object: 'response', model: 'm-1', status: 'completed', output: [item], usage }
  if (!stream) return json(response)
  return events(
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } },
    { type: 'response.output_item.added', output_index: 0, item: begun },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response },
  )
}

/** A tool call as Gemini tells it. */
export const geminiCall = (stream: boolean, { id, name, args, tokens = 20 }: ToolCall): WholeReply => {
  const content = { role: 'model', parts: [{ functionCall: { name, args } }] }
  const reply = {
    candidates: [{ content, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: tokens, candidatesTokenCount: 5, totalTokenCount: tokens + 5 },
    modelVersion: 'm-1',
    responseId: id,
  }
  return stream ? { type: 'text/event-stream', body: `data: ${JSON.stringify(reply)}\r\n\r\n` } : json(reply)
}
