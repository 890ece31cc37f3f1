import { setTimeout } from 'node:timers/promises'
import { GuardError, statusOf } from 'guard-gateway/core'
import { errorFromResponse } from '#lib/errors'
import { EventCutter, eventTexts } from '#lib/sse'

const FIRST_WAIT_MS = 250
const MAX_WAIT_MS = 5_000

/** A message of an event stream. */
export interface Message {
  readonly event: string
  readonly data: string
}

export interface Listening {
  /** Ends the connection. */
  readonly signal: AbortSignal
  /** The connection was lost and is retried. */
  onLost(): void
  /** The access key, which a gateway beyond loopback wants. */
  readonly key?: string | undefined
  /** The connection is restored. */
  onReconnected(): void
}

/**
 * Messages of an event stream. It reconnects with the last message id until the
 * signal aborts. Throws the error of a rejected stream, and STORAGE_UNAVAILABLE if the first connection fails.
 */
export async function* listen(url: string, listening: Listening): AsyncGenerator<Message> {
  const { signal } = listening
  const cursor: StreamCursor = { id: undefined }
  let wait_ms = 0
  let stood = false
  while (!signal.aborted) {
    const answer = await connected(url, cursor, listening).catch((error: unknown) => {
      const passes = signal.aborted || (stood && (!(error instanceof GuardError) || statusOf(error) >= 500))
      if (!passes) throw unreachable(error, url)
      return undefined
    })
    if (answer !== undefined) {
      if (stood) listening.onReconnected()
      stood = true
      wait_ms = 0
      yield* messagesIn(answer, cursor, signal)
      if (!signal.aborted) listening.onLost()
    }
    wait_ms = Math.min(Math.max(wait_ms * 2, FIRST_WAIT_MS), MAX_WAIT_MS)
    if (!signal.aborted) await setTimeout(wait_ms, undefined, { signal }).catch(() => {})
  }
}

interface StreamCursor {
  id: string | undefined
}

const unreachable = (error: unknown, url: string): unknown =>
  error instanceof GuardError
    ? error
    : new GuardError('STORAGE_UNAVAILABLE', `Nobody answers at ${url}.`, { cause: error })

const connected = async (
  url: string,
  { id }: StreamCursor,
  { key, signal }: Listening,
): Promise<ReadableStream<Uint8Array>> => {
  const headers = {
    accept: 'text/event-stream',
    ...(id === undefined ? {} : { 'last-event-id': id }),
    ...(key ? { 'x-guard-key': key } : {}),
  }
  const answer = await fetch(url, { headers, signal })
  if (!answer.ok || answer.body === null) throw errorFromResponse(await answer.text())
  return answer.body
}

/** Messages until the stream ends or fails. */
async function* messagesIn(
  body: ReadableStream<Uint8Array>,
  cursor: StreamCursor,
  signal: AbortSignal,
): AsyncGenerator<Message> {
  const ready: Buffer[] = []
  const cutter = new EventCutter((raw) => void ready.push(raw))
  try {
    for await (const chunk of body) {
      cutter.push(Buffer.from(chunk))
      for (const { id, event, data } of ready.splice(0).map(eventTexts)) {
        cursor.id = id ?? cursor.id
        if (data !== undefined) yield { event: event || 'message', data }
      }
    }
  } catch (error) {
    // a broken stream throws a TypeError
    if (!signal.aborted && !(error instanceof TypeError)) throw error
  }
}
