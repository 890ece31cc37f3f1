import { type Template, template } from '../kit/template.ts'

/** The reply to the requests of a shape. */
export interface ReplyPlan {
  readonly style: 'chat_completions' | 'messages'
  /** Present: a stream with this number of chunks at this interval. Absent: one JSON reply of about 900 bytes. */
  readonly stream?: { readonly chunks: number; readonly interval_ms: number }
}

/** A traffic pattern of clients. */
export interface Shape {
  readonly id: string
  readonly title: string
  readonly path: string
  readonly conversation: Template
  /** Turns in the first request of a session. Each further request has one more. Absent: every request is a new conversation. */
  readonly grows_from?: number
  /** Requests per session. */
  readonly session: number
  /** Only the first message of a conversation is new: its calls and their results are those of all others, so that rules flag it. */
  readonly repeats?: boolean
  /** The first request of a session is sent before the measurement, which then covers an established session. */
  readonly opened: boolean
  readonly connections: number
  /** Requests per round, over all connections. */
  readonly requests: number
  readonly reply: ReplyPlan
  /** Maximum accepted ratio to the raw pass-through, in CPU per request, or per chunk of a stream. */
  readonly must?: number
}

const chat = { path: '/v1/chat/completions', reply: { style: 'chat_completions' } } as const
const agent = { path: '/v1/messages', reply: { style: 'messages' } } as const
const small = { style: 'chat_completions', turns: 0, result: 0, tools: 0, seed: 1 } as const
/** A conversation of 35 KB. */
const conversation = (seed: number): Template =>
  template({
    style: 'chat_completions',
    first: 600,
    turns: 23,
    result: 1_000,
    system: 2_000,
    tools: 5,
    stream: false,
    seed,
  })
const STREAMED = template({ ...small, first: 500, system: 300, stream: true })

/** All shapes of the load suite. Equal in every run. */
export const shapes = (): readonly Shape[] => [
  {
    ...chat,
    id: 'chat_1k',
    title: 'chat 1 KB',
    conversation: template({ ...small, first: 500, system: 300, stream: false }),
    session: 20,
    opened: false,
    connections: 16,
    requests: 8_000,
    must: 2,
  },
  {
    ...chat,
    id: 'chat_32k',
    title: 'chat 32 KB, never seen',
    conversation: conversation(2),
    session: 20,
    opened: false,
    connections: 16,
    requests: 8_000,
    must: 3,
  },
  {
    ...chat,
    id: 'flagged_32k',
    title: 'chat 32 KB, calls seen before',
    conversation: conversation(2),
    session: 40,
    repeats: true,
    opened: false,
    connections: 16,
    requests: 8_000,
  },
  {
    ...agent,
    id: 'growing_64k',
    title: 'growing session 12–64 KB',
    conversation: template({
      style: 'messages',
      first: 800,
      turns: 42,
      result: 1_000,
      system: 3_000,
      tools: 6,
      stream: false,
      seed: 3,
    }),
    grows_from: 3,
    session: 40,
    opened: false,
    connections: 16,
    requests: 2_560,
    must: 2.2,
  },
  {
    ...agent,
    id: 'growing_500k',
    title: 'growing session 500 KB',
    conversation: template({
      style: 'messages',
      first: 800,
      turns: 392,
      result: 1_000,
      system: 3_000,
      tools: 6,
      stream: false,
      seed: 4,
    }),
    grows_from: 350,
    session: 42,
    opened: true,
    connections: 16,
    requests: 640,
    must: 2,
  },
  {
    path: chat.path,
    id: 'sse_64',
    title: 'SSE, 64 paced streams',
    conversation: STREAMED,
    session: 1,
    opened: false,
    connections: 64,
    requests: 64,
    reply: { style: 'chat_completions', stream: { chunks: 200, interval_ms: 10 } },
    must: 1.3,
  },
]

/** A thousand concurrent streams, for their memory and their completeness. */
export const crowd: Shape = {
  path: chat.path,
  id: 'streams_1000',
  title: '1000 concurrent streams',
  conversation: STREAMED,
  session: 1,
  opened: false,
  connections: 1_000,
  requests: 1_000,
  reply: { style: 'chat_completions', stream: { chunks: 30, interval_ms: 200 } },
}

/** Requests at a fixed rate, for the added latency. */
export const steady: Shape = {
  ...chat,
  id: 'latency_32k',
  title: '32 KB at 200 requests/s',
  conversation: conversation(5),
  session: 20,
  opened: false,
  connections: 32,
  requests: 1_000,
}

/** Chats of 4 KB, for the memory and the writes of a gateway that runs for long. */
export const chats: Shape = {
  ...chat,
  id: 'chat_4k',
  title: 'chat 4 KB',
  conversation: template({ ...small, first: 3_200, system: 600, stream: false }),
  session: 20,
  opened: false,
  connections: 16,
  requests: 20_000,
}
