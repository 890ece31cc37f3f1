import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { GuardError } from 'guard-gateway/core'
import { type BodyOwnership, detachBuffer } from '#lib/request-reader'

const http = process.getBuiltinModule('node:http')

/** A body that is larger than it may be; nothing more is read from this connection. */
export const tooLarge = (limit: number): GuardError =>
  new GuardError(
    'BODY_TOO_LARGE',
    `The body is larger than ${limit} bytes. Send less, or raise server.body_limit_bytes.`,
    {
      headers: { connection: 'close' },
    },
  )

/** A body whose client left, or was too slow. */
export const bodyAborted = (cause?: unknown): GuardError =>
  new GuardError('INVALID_BODY', 'The request ended before its body did.', { cause })

/** The announced length of a body; 0 if there is none. */
export const contentLength = (request: IncomingMessage): number => Number(request.headers['content-length'] ?? 0)

/**
 * Reads a complete request body, with one allocation if its length is known; a large one then belongs to `owned`. `hold` receives the number of bytes so far if the length is unknown.
 * Throws BODY_TOO_LARGE, INVALID_BODY if the client leaves, or what `hold` throws.
 */
export const readBody = (
  request: IncomingMessage,
  limit: number,
  owned: BodyOwnership,
  hold: (bytes: number) => void = nothing,
): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const length = contentLength(request)
    if (length > limit) return reject(tooLarge(limit))
    const [gathered, grown] = length > 0 ? [new FixedLengthBody(length, owned), nothing] : [new ChunkedBody(), hold]
    const take = (chunk: Buffer): void => {
      const copied = gathered.add(chunk)
      if (copied && isOnlyReader(request)) detachBuffer(chunk)
      try {
        if (gathered.length > limit) throw tooLarge(limit)
        grown(chunk.length)
      } catch (error) {
        // what has come already is not examined any more
        request.off('data', take).pause()
        reject(error)
      }
    }
    request.on('data', take)
    request.on('end', () => resolve(gathered.whole()))
    request.on('error', (cause) => reject(bodyAborted(cause)))
    request.on('close', () => {
      if (!request.complete) reject(bodyAborted())
    })
  })

const nothing = (): void => {}

/** Whether chunks are made for this reader alone, as Node's server makes them. */
const isOnlyReader = (request: IncomingMessage): boolean =>
  request instanceof http.IncomingMessage && request.socket instanceof Socket && request.listenerCount('data') === 1

/** Bytes of a length known beforehand; a body that comes in one piece is not copied. */
class FixedLengthBody {
  readonly #size: number
  readonly #owned: BodyOwnership
  #bytes: Buffer | undefined
  length = 0

  constructor(size: number, owned: BodyOwnership) {
    this.#size = size
    this.#owned = owned
  }
  /** Whether the chunk was copied, so that it is not needed any more. */
  add(chunk: Buffer): boolean {
    const whole = this.length === 0 && chunk.length === this.#size
    if (whole) this.#bytes = chunk
    else {
      this.#bytes ??= this.#allocated()
      chunk.copy(this.#bytes, this.length)
    }
    this.length += chunk.length
    return !whole
  }
  whole(): Buffer {
    return this.#bytes ?? Buffer.alloc(0)
  }
  #allocated(): Buffer {
    const bytes = Buffer.allocUnsafeSlow(this.#size)
    if (this.#size >= WORTH_OWNING) this.#owned.own(bytes)
    return bytes
  }
}

/** To free a smaller body at once costs about as much as it saves. */
const WORTH_OWNING = 131_072

/** Bytes of unknown length. */
class ChunkedBody {
  readonly #chunks: Buffer[] = []
  length = 0

  add(chunk: Buffer): boolean {
    this.#chunks.push(chunk)
    this.length += chunk.length
    return false
  }
  whole(): Buffer {
    const [first] = this.#chunks
    return first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.length)
  }
}
