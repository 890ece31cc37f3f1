/** A reply as a provider sends it: type and body. */
export interface WholeReply {
  readonly type: string
  readonly body: string
}

const json = (body: object): WholeReply => ({ type: 'application/json', body: JSON.stringify(body) })
const events = (text: string): WholeReply => ({ type: 'text/event-stream', body: text })
const data = (body: object): string => `data: ${JSON.stringify(body)}\n\n`
const named = (body: { readonly type: string }): string => `event: ${body.type}\n${data(body)}`

const chatUsage = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 }

/** Chat Completions: `usage` tells whether the stream ends with a usage chunk. */
export const chatReply = (stream: boolean, text = 'Hello there.', usage = false): WholeReply => {
  const common = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'm-1-0301' }
  if (!stream) {
    const choice = { index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }
    return json({ ...common, object: 'chat.completion', choices: [choice], usage: chatUsage })
  }
  const chunk = (delta: object, finish_reason: string | null) =>
    data({ ...common, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })
  const last = usage ? data({ ...common, object: 'chat.completion.chunk', choices: [], usage: chatUsage }) : ''
  const words = text.split(/(?<= )/).map((word) => chunk({ content: word }, null))
  return events(`${chunk({ role: 'assistant' }, null)}${words.join('')}${chunk({}, 'stop')}${last}data: [DONE]\n\n`)
}

export const messagesReply = (stream: boolean, text = 'Hello there.'): WholeReply => {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm-1-0301' }
  const usage = { input_tokens: 20, output_tokens: 5 }
  if (!stream) return json({ ...message, content: [{ type: 'text', text }], stop_reason: 'end_turn', usage })
  const words = text
    .split(/(?<= )/)
    .map((word) =>
      named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: word } } as { type: string }),
    )
  return events(
    [
      named({ type: 'message_start', message: { ...message, content: [], usage: { ...usage, output_tokens: 1 } } } as {
        type: string
      }),
      named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as { type: string }),
      named({ type: 'ping' }),
      ...words,
      named({ type: 'content_block_stop', index: 0 } as { type: string }),
      named({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } } as {
        type: string
      }),
      named({ type: 'message_stop' }),
    ].join(''),
  )
}

export const responsesReply = (stream: boolean, text = 'Hello there.'): WholeReply => {
  const item = { type: 'message', id: 'item_1', role: 'assistant', content: [{ type: 'output_text', text }] }
  const usage = { input_tokens: 20, output_tokens: 5, total_tokens: 25 }
  const response = { id: 'resp_1', object: 'response', model: 'm-1-0301', status: 'completed', output: [item], usage }
  if (!stream) return json(response)
  const words = text
    .split(/(?<= )/)
    .map((word) => named({ type: 'response.output_text.delta', delta: word } as { type: string }))
  return events(
    [
      named({ type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } } as {
        type: string
      }),
      ...words,
      named({ type: 'response.output_item.done', item } as { type: string }),
      named({ type: 'response.completed', response } as { type: string }),
    ].join(''),
  )
}

/** Gemini: a stream of events, or with `alt` other than `sse` one array. */
export const geminiReply = (stream: boolean, text = 'Hello there.', sse = true): WholeReply => {
  const usageMetadata = { promptTokenCount: 20, candidatesTokenCount: 5, totalTokenCount: 25 }
  const chunk = (said: string, finish: object) => ({
    candidates: [{ content: { parts: [{ text: said }], role: 'model' }, ...finish, index: 0 }],
    usageMetadata,
    modelVersion: 'm-1-0301',
    responseId: 'gem_1',
  })
  if (!stream) return json(chunk(text, { finishReason: 'STOP' }))
  const words = text.split(/(?<= )/)
  const chunks = words.map((word, at) => chunk(word, at === words.length - 1 ? { finishReason: 'STOP' } : {}))
  if (sse) return events(chunks.map((value) => `data: ${JSON.stringify(value)}\r\n\r\n`).join(''))
  return {
    type: 'application/json; charset=UTF-8',
    body: `[${chunks.map((value) => JSON.stringify(value, null, 2)).join('\n,\n')}\n]\n`,
  }
}

/** Ollama's chat, or with `generate` its generate. */
export const ollamaReply = (stream: boolean, text = 'Hello there.', generate = false): WholeReply => {
  const common = { model: 'm-1-0301', created_at: '2026-01-02T03:04:05.678Z' }
  const said = (content: string) => (generate ? { response: content } : { message: { role: 'assistant', content } })
  const done = { done: true, done_reason: 'stop', prompt_eval_count: 20, eval_count: 5 }
  if (!stream) return json({ ...common, ...said(text), ...done })
  const words = text.split(/(?<= )/).map((word) => ({ ...common, ...said(word), done: false }))
  const lines = [...words, { ...common, ...said(''), ...done }].map((line) => `${JSON.stringify(line)}\n`)
  return { type: 'application/x-ndjson', body: lines.join('') }
}

/** The reply to a request: that of the dialect of its target, as a stream where target or body ask for one. */
export const replyTo = (target: string, body: string): WholeReply => {
  const [encoded = '', query = ''] = target.split('?')
  const path = decodeURIComponent(encoded)
  if (/:\w+$/.test(path)) {
    if (path.endsWith(':countTokens')) return json({ totalTokens: 42 })
    return geminiReply(path.endsWith(':streamGenerateContent'), undefined, /(?:^|&)alt=sse/.test(query))
  }
  if (path.endsWith('/api/tags')) return json({ models: [{ name: 'm-1', model: 'm-1' }] })
  if (path.endsWith('/api/version')) return json({ version: '0.13.0' })
  if (/\/api\/(?:chat|generate)$/.test(path))
    return ollamaReply(!/"stream"\s*:\s*false/.test(body), undefined, path.endsWith('/generate'))
  if (path.endsWith('/v1beta/models')) return json({ models: [{ name: 'models/m-1', displayName: 'M 1' }] })
  return replyFor(path, /"stream"\s*:\s*true/.test(body))
}

/** The reply of the dialect that a path is of; a token count and a model list too. */
export const replyFor = (path: string, stream: boolean): WholeReply => {
  if (path.endsWith('/count_tokens')) return json({ input_tokens: 42 })
  if (path.endsWith('/models'))
    return json({ object: 'list', data: [{ id: 'm-1', object: 'model', created: 1, owned_by: 'them' }] })
  if (path.endsWith('/messages')) return messagesReply(stream)
  return path.endsWith('/responses') ? responsesReply(stream) : chatReply(stream)
}
