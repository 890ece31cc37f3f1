import type { ApiStyle, Conversation, Envelope, ProviderObject } from 'guard-gateway/core'
import type { RequestTarget } from '#lib/api-style'

declare module 'guard-gateway/core' {
  interface Services {
    /** How model requests are read, where they come in. */
    requests: Requests
  }
}

/** A request as its API style and the rules see it. */
export interface ReadRequest {
  readonly envelope: Envelope
  readonly conversation: Conversation
  /** Objects of the provider's account that the body names. */
  readonly objects: readonly ProviderObject[]
}

/** Reads model requests, and owns the memory of their bodies. */
export interface Requests {
  readonly reader: {
    /**
     * Reads a request body for an API style; `hint` is a session id, or empty. If the body begins like an earlier one of the same hint,
     * only its new elements are parsed. `target`: the first path of the style, if it is left out.
     * Throws INVALID_BODY unless the body is one JSON object within limits.
     */
    read(style: ApiStyle, body: Buffer, hint: string, target?: RequestTarget): ReadRequest
  }
  readonly bodies: BodyOwnership
}

/** The ownership of the buffers of bodies: their memory is freed when their call is settled and all attempts to send them have ended. */
export interface BodyOwnership {
  /** Takes the ownership of a body. Its memory must have no other user. */
  own(body: Buffer): void
  /** An attempt to send the body starts. */
  sendStarted(body: Buffer): void
  /** An attempt to send the body no longer reads it. */
  sendEnded(body: Buffer): void
  /** The call is settled: only attempts to send the body may still read it. */
  settled(body: Buffer): void
}
