import type { Envelope } from '../call.ts'
import type { Conversation } from '../turns.ts'
import type { ApiStyle } from './api-style.ts'

/** A request as its style and the rules read it. */
export interface ReadRequest {
  readonly envelope: Envelope
  readonly conversation: Conversation
}

/** Reads model requests, and knows whose memory their bodies are. */
export interface Requests {
  readonly reader: {
    /**
     * Reads a request body for a style; `hint` is a session's id, or empty. Of a body that begins like an earlier one of the same hint only what is new is parsed.
     * Throws INVALID_BODY for anything but one JSON object within limits.
     */
    read(style: ApiStyle, body: Buffer, hint: string): ReadRequest
  }
  readonly bodies: BodyOwnership
}

/** Bodies whose memory is freed once their call is settled and every attempt to send them is over. */
export interface BodyOwnership {
  /** Nobody else has this memory. */
  own(body: Buffer): void
  /** An attempt to send it begins. */
  sending(body: Buffer): void
  /** One that has begun reads it no more. */
  sent(body: Buffer): void
  /** Nobody but attempts to send it reads it any more. */
  settled(body: Buffer): void
}
