import type { ListenedReply, Listener, ListenRequest } from 'guard-gateway/core'
import type { JsonObject } from 'guard-gateway/lib/json'
import { EventSplitter } from 'guard-gateway/lib/sse'
import { MAX_BODY_BYTES } from './kept-body.ts'
import { parsedBody, parsedEvent } from './reply-meter.ts'

/** Understands one reply of an API style: what it says, and how it can be ended early. */
export interface Speech {
  /** Reads one event of a stream. */
  event(event: JsonObject, listener: Listener): void
  /** Reads a whole reply. */
  body(value: JsonObject, listener: Listener): void
  /** As `ListenedReply.ending`. */
  ending(): string
}

/** An event of a stream as text, named by its type. */
export const eventText = (event: JsonObject & { readonly type: string }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

/** The `listen` of a style whose replies `speech` understands: the listener hears them before the style's own meter reads them. */
export const listenBy =
  (speech: () => Speech) =>
  (request: ListenRequest): ListenedReply => {
    const own = speech()
    return { meter: listeningMeter(own, request), ending: () => own.ending() }
  }

const listeningMeter = (speech: Speech, { meter, stream, listener, fault }: ListenRequest): ListenedReply['meter'] => {
  const ear = stream ? streamSink(speech, listener) : bodySink(speech, listener)
  let isDeaf = false
  const deafened = (error: unknown): void => {
    isDeaf = true
    fault(error)
  }
  return {
    push: (chunk) => {
      try {
        if (!isDeaf) ear.push(chunk)
      } catch (error) {
        deafened(error)
      }
      meter.push(chunk)
    },
    end: () => {
      try {
        if (!isDeaf) ear.end()
      } catch (error) {
        deafened(error)
      }
      return meter.end()
    },
  }
}

const streamSink = (speech: Speech, listener: Listener) => {
  const splitter = new EventSplitter((bytes, start, end) => speech.event(parsedEvent(bytes, start, end), listener))
  return { push: (chunk: Uint8Array) => splitter.push(chunk), end: () => {} }
}

/** Keeps a body until it is whole; one over 16 MiB is not listened to. */
const bodySink = (speech: Speech, listener: Listener) => {
  const chunks: Uint8Array[] = []
  let length = 0
  return {
    push: (chunk: Uint8Array) => {
      length += chunk.length
      if (length <= MAX_BODY_BYTES) chunks.push(chunk)
      else chunks.length = 0
    },
    end: () => {
      if (chunks.length > 0) speech.body(parsedBody(chunks), listener)
    },
  }
}
