import { type AddressInfo, createServer, type Socket } from 'node:net'
import { onMessage, waitForParent } from './message-handlers.ts'
import { type Replies, repliesOf } from './replies.ts'
import { RequestReader } from './request-reader.ts'
import type { ReplyPlan } from './shapes.ts'

/** The reply to all further requests. */
export interface Plan {
  readonly reply: ReplyPlan
}

/** A stream to one client. */
interface Stream {
  readonly socket: Socket
  readonly chunks: readonly Buffer[]
  next: number
}

const TICK_MS = 1

const state: { replies: Replies; interval_ms: number; begun: number } = {
  replies: repliesOf({ style: 'chat_completions' }),
  interval_ms: 0,
  begun: 0,
}

/** Streams by the tick of their next chunk. Their starts are spread to avoid bursts of chunks. */
const due = new Map<number, Stream[]>()
const clock: { tick: number; timer: NodeJS.Timeout | undefined } = { tick: 0, timer: undefined }

const onTick = (): void => {
  const now = Math.floor(performance.now() / TICK_MS)
  for (; clock.tick <= now; clock.tick++) {
    const streams = due.get(clock.tick)
    due.delete(clock.tick)
    for (const stream of streams ?? []) sendNext(stream)
  }
  if (due.size === 0) {
    clearInterval(clock.timer)
    clock.timer = undefined
  }
}

const sendNext = (stream: Stream): void => {
  const chunk = stream.chunks[stream.next++]
  if (chunk === undefined || stream.socket.destroyed) return
  stream.socket.write(chunk)
  if (stream.next < stream.chunks.length) schedule(stream, clock.tick + state.interval_ms / TICK_MS)
}

const schedule = (stream: Stream, tick: number): void => {
  const streams = due.get(tick)
  if (streams === undefined) due.set(tick, [stream])
  else streams.push(stream)
}

const begin = (socket: Socket): void => {
  const { head, chunks } = state.replies
  socket.write(head)
  if (chunks.length === 0) return
  if (clock.timer === undefined) {
    clock.tick = Math.floor(performance.now() / TICK_MS)
    clock.timer = setInterval(onTick, TICK_MS)
  }
  const now = Math.max(clock.tick, Math.floor(performance.now() / TICK_MS))
  schedule({ socket, chunks, next: 0 }, now + 1 + (state.begun++ % state.interval_ms))
}

const server = createServer({ noDelay: true }, (socket) => {
  const reader = new RequestReader(() => begin(socket))
  socket.on('data', (chunk) => reader.push(chunk))
  socket.on('error', () => socket.destroy())
})

onMessage(
  'listen',
  () =>
    new Promise((resolve) => {
      server.listen({ host: '127.0.0.1', port: 0, backlog: 2048 }, () =>
        resolve((server.address() as AddressInfo).port),
      )
    }),
)
onMessage('plan', ({ reply }) => {
  state.replies = repliesOf(reply)
  state.interval_ms = reply.stream?.interval_ms ?? 0
  return true
})
waitForParent()
