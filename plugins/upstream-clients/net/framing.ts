import { ChunkedFraming } from './chunked.ts'
import type { ResponseHead } from './response-head.ts'

/** Takes the pieces of a body. */
export interface Sink {
  piece(bytes: Buffer): void
}

/** Finds the end of a body among the bytes of a connection. */
export interface Framing {
  /** The body has come to its end. */
  readonly isDone: boolean
  /** The end of the connection is the end of the body. */
  readonly endsWithConnection: boolean
  /** Hands the body's bytes to the sink and gives the number of bytes that were the body's, framing included. Throws HttpFault. */
  push(bytes: Buffer, sink: Sink): number
}

/** How the body behind a head is framed. */
export const framingOf = ({ status, length, isChunked }: ResponseHead, method: string): Framing => {
  if (method === 'HEAD' || status === 204 || status === 304) return new FixedFraming(0)
  if (isChunked) return new ChunkedFraming()
  return length === undefined ? new ConnectionFraming() : new FixedFraming(length)
}

class FixedFraming implements Framing {
  readonly endsWithConnection = false
  #left: number

  constructor(length: number) {
    this.#left = length
  }

  get isDone(): boolean {
    return this.#left === 0
  }

  push(bytes: Buffer, sink: Sink): number {
    const length = Math.min(bytes.length, this.#left)
    if (length === 0) return 0
    this.#left -= length
    sink.piece(length === bytes.length ? bytes : bytes.subarray(0, length))
    return length
  }
}

class ConnectionFraming implements Framing {
  readonly endsWithConnection = true
  readonly isDone = false

  push(bytes: Buffer, sink: Sink): number {
    if (bytes.length > 0) sink.piece(bytes)
    return bytes.length
  }
}
