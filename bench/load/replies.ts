import type { ReplyPlan } from './shapes.ts'

const CHUNK_BYTES = 60

/** The bytes of a reply, prepared once per plan. */
export interface Replies {
  /** Status line, headers and, unless it is a stream, the body. */
  readonly head: Buffer
  /** The chunks of a stream, one per interval of the plan. Empty for a reply that is no stream. */
  readonly chunks: readonly Buffer[]
  /** Bytes of the body, without transfer coding. */
  readonly body_bytes: number
}

/** Builds the replies of a plan. */
export const repliesOf = (plan: ReplyPlan): Replies =>
  plan.stream === undefined ? whole(plan) : streamed(plan.stream.chunks)

const whole = ({ style }: ReplyPlan): Replies => {
  const body = JSON.stringify(style === 'messages' ? message : completion)
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nrequest-id: req_bench\r\ncontent-length: ${body.length}\r\n\r\n`
  return { head: Buffer.from(head + body), chunks: [], body_bytes: body.length }
}

const streamed = (count: number): Replies => {
  const events = Array.from({ length: count }, (_, index) => event(index))
  events.push(`data: ${JSON.stringify({ ...frame, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\n`)
  events.push(`data: ${JSON.stringify({ ...frame, choices: [], usage: completion.usage })}\n\ndata: [DONE]\n\n`)
  const chunks = events.map((text, index) => {
    const coded = `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
    return Buffer.from(index === events.length - 1 ? `${coded}0\r\n\r\n` : coded)
  })
  const head =
    'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-request-id: req_bench\r\ntransfer-encoding: chunked\r\n\r\n'
  return { head: Buffer.from(head), chunks, body_bytes: events.reduce((sum, text) => sum + Buffer.byteLength(text), 0) }
}

/** An event of 60 bytes. */
const event = (index: number): string => {
  const text = `data: {"choices":[{"index":0,"delta":{"content":"${String(index % 1000).padStart(3, '0')}`
  return `${text.padEnd(CHUNK_BYTES - 7, '.').slice(0, CHUNK_BYTES - 7)}"}}]}\n\n`
}

const frame = { id: 'chatcmpl_bench', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'bench-model' }
const text = 'The file reads the request, keeps what it needs and hands the rest on. '.repeat(8)

const completion = {
  id: 'chatcmpl_bench',
  object: 'chat.completion',
  created: 1_760_000_000,
  model: 'bench-model',
  choices: [{ index: 0, message: { role: 'assistant', content: text, refusal: null }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 12, completion_tokens: 8, total_tokens: 20 },
}

const message = {
  id: 'msg_bench',
  type: 'message',
  role: 'assistant',
  model: 'bench-model',
  content: [{ type: 'text', text }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 12, output_tokens: 8, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
}
