import { ChunkedFraming } from './chunked.ts'
import type { ResponseHead } from './response-head.ts'

/** Receives the chunks of a body. */
export interface BodySink {
  chunk(bytes: Buffer): void
}

/** Finds the end of a body among the bytes of a connection. */
export interface Framing {
  /** The body is complete. */
  readonly isDone: boolean
  /** The end of the connection is the end of the body. */
  readonly endsWithConnection: boolean
  /** Hands the body's bytes to the sink. Returns how many bytes belong to the body, framing included. Throws HttpParseError. */
  push(bytes: Buffer, sink: BodySink): number
}

/** How the body after a head is framed (RFC 9112, section 6.3). */
export const framingOf = ({ status, length, isChunked }: ResponseHead, method: string): Framing => {
  if (method === 'HEAD' || status === 204 || status === 304) return new FixedFraming(0)
  if (isChunked) return new ChunkedFraming()
  return length === undefined ? new ConnectionFraming() : new FixedFraming(length)
}

class FixedFraming implements Framing {
  readonly endsWithConnection = false
  #remaining: number

  constructor(length: number) {
    this.#remaining = length
  }

  get isDone(): boolean {
    return this.#remaining === 0
  }

  push(bytes: Buffer, sink: BodySink): number {
    const length = Math.min(bytes.length, this.#remaining)
    if (length === 0) return 0
    this.#remaining -= length
    sink.chunk(length === bytes.length ? bytes : bytes.subarray(0, length))
    return length
  }
}

class ConnectionFraming implements Framing {
  readonly endsWithConnection = true
  readonly isDone = false

  push(bytes: Buffer, sink: BodySink): number {
    if (bytes.length > 0) sink.chunk(bytes)
    return bytes.length
  }
}
