import type { ListenedReply, Listener, ListenRequest } from 'guard-gateway/core'
import type { JsonObject } from '#lib/json'
import { EventSplitter, type OnData } from '#lib/sse'
import { MAX_BODY_BYTES } from './buffered-body.ts'
import { parsedBody, parsedEvent, type StreamOptions } from './reply-meter.ts'
import { StreamSplitter } from './stream-splitter.ts'

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

/** The `listen` of a style whose replies `speech` understands: the listener hears them before the style's own meter reads them. `ending` of the speech is in the framing of the stream. */
export const listenBy =
  (speech: () => Speech, { json = false }: StreamOptions = {}) =>
  (request: ListenRequest): ListenedReply => {
    const own = speech()
    const onData: OnData = (bytes, start, end) => own.event(parsedEvent(bytes, start, end), request.listener)
    const splitter = json ? new StreamSplitter(onData) : new EventSplitter(onData)
    const framing = () => (splitter instanceof StreamSplitter ? splitter.framing : 'events')
    const ear = request.stream ? streamSink(splitter) : bodySink(own, request.listener)
    return {
      meter: listeningMeter(ear, request),
      // between elements of an array nothing shows where one ends
      ending: () => (framing() === 'array' ? '' : own.ending()),
      get lines() {
        return framing() === 'lines'
      },
    }
  }

/** What hears a reply. */
interface Sink {
  push(chunk: Uint8Array): void
  end(): void
}

const listeningMeter = (ear: Sink, { meter, fault }: ListenRequest): ListenedReply['meter'] => {
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

const streamSink = (splitter: EventSplitter | StreamSplitter): Sink => ({
  push: (chunk) => splitter.push(chunk),
  end: () => {},
})

/** Keeps a body until it is whole; one over 16 MiB is not listened to. */
const bodySink = (speech: Speech, listener: Listener): Sink => {
  const chunks: Uint8Array[] = []
  let length = 0
  return {
    push: (chunk) => {
      length += chunk.length
      if (length <= MAX_BODY_BYTES) chunks.push(chunk)
      else chunks.length = 0
    },
    end: () => {
      if (chunks.length > 0) speech.body(parsedBody(chunks), listener)
    },
  }
}
