import type { Readable } from 'node:stream'
import { type BodyReader, GuardError, type PushedBody, type ReplyBody, readInto } from 'guard-gateway/core'

/** A body from its first byte to its last. Throws UPSTREAM_UNREACHABLE for one that breaks off or is larger than `limit` bytes. */
export const readWholeBody = (body: ReplyBody, limit: number): Promise<Buffer> => {
  if (body instanceof Uint8Array) return Promise.resolve(Buffer.from(body.buffer, body.byteOffset, body.length))
  return new Promise((resolve, reject) => {
    readInto(body, new BodyCollector(body, limit, resolve, reject))
  })
}

/** Discards an unread body. */
export const discard = (body: ReplyBody): void => {
  if (!(body instanceof Uint8Array)) body.destroy()
}

class BodyCollector implements BodyReader {
  readonly #body: Readable | PushedBody
  readonly #limit: number
  readonly #resolve: (whole: Buffer) => void
  readonly #reject: (error: Error) => void
  readonly #chunks: Uint8Array[] = []
  #length = 0

  constructor(
    body: Readable | PushedBody,
    limit: number,
    resolve: (whole: Buffer) => void,
    reject: (error: Error) => void,
  ) {
    this.#body = body
    this.#limit = limit
    this.#resolve = resolve
    this.#reject = reject
  }

  data(chunk: Uint8Array): void {
    this.#length += chunk.length
    this.#chunks.push(chunk)
    if (this.#length <= this.#limit) return
    this.#reject(new GuardError('UPSTREAM_UNREACHABLE', `The list is larger than ${this.#limit} bytes.`))
    this.#body.destroy()
  }

  end(): void {
    this.#resolve(Buffer.concat(this.#chunks, this.#length))
  }

  cut(): void {
    this.#reject(new GuardError('UPSTREAM_UNREACHABLE', 'The list broke off.'))
  }
}
