import type { ApiStyle, Listener, Meter, ReplyListener, Speech } from 'guard-gateway/core'
import { EventSplitter } from 'guard-gateway/lib/sse'
import { MAX_BODY_BYTES, parsedBody, parsedEvent } from './reply-meter.ts'

/** A meter that lets a listener hear what the reply says, before the dialect's own meter reads it; `fault` is told once if that fails, and the meter goes on. */
export const heard = (
  meter: Meter,
  speech: Speech,
  stream: boolean,
  listener: Listener,
  fault: (error: unknown) => void,
): Meter => {
  const ear = stream ? streamEar(speech, listener) : bodyEar(speech, listener)
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

const streamEar = (speech: Speech, listener: Listener) => {
  const splitter = new EventSplitter((bytes, start, end) => speech.event(parsedEvent(bytes, start, end), listener))
  return { push: (chunk: Uint8Array) => splitter.push(chunk), end: () => {} }
}

/** Keeps a body until it is whole; one over 16 MiB is not listened to. */
const bodyEar = (speech: Speech, listener: Listener) => {
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

/** How a reply that is on its way can be ended early. */
export interface Ending {
  readonly listener: ReplyListener
  readonly speech: Speech
}

/** What a listener and a dialect make of a reply together; undefined where the dialect cannot be listened to. */
export const endingOf = (style: ApiStyle, listener: ReplyListener | undefined): Ending | undefined => {
  const speech = listener === undefined ? undefined : style.speech?.()
  return listener === undefined || speech === undefined ? undefined : { listener, speech }
}
