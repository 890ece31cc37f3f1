import { LongStringCutter } from '#lib/json'

/** A body that is no stream is kept up to this size. */
export const MAX_BODY_BYTES = 16 * 1024 * 1024

/** The chunks of a JSON body. Of one over 16 MiB the ends of long strings, as those of images are, are left out; what is larger even so is not kept. */
export class BufferedBody {
  readonly chunks: Uint8Array[] = []
  /** Bytes that came. */
  length = 0
  #size = 0
  #cutter: LongStringCutter | undefined
  /** What is left of one chunk. */
  #short: Buffer = Buffer.alloc(0)
  #filled = 0

  push(chunk: Uint8Array): void {
    this.length += chunk.length
    if (this.#cutter === undefined && this.length > MAX_BODY_BYTES) this.#shorten()
    this.#add(chunk)
  }

  #shorten(): void {
    const before = this.chunks.splice(0)
    this.#size = 0
    this.#cutter = new LongStringCutter((bytes, start, end) => {
      this.#filled += bytes.copy(this.#short, this.#filled, start, end)
    })
    for (const chunk of before) this.#add(chunk)
  }

  #add(chunk: Uint8Array): void {
    if (this.#size > MAX_BODY_BYTES) return
    const stored = this.#cutter === undefined ? chunk : this.#shortened(this.#cutter, chunk)
    this.#size += stored.length
    if (this.#size <= MAX_BODY_BYTES) this.chunks.push(stored)
    else this.chunks.length = 0
  }

  #shortened(cutter: LongStringCutter, chunk: Uint8Array): Uint8Array {
    if (this.#short.length < chunk.length) this.#short = Buffer.allocUnsafeSlow(chunk.length)
    this.#filled = 0
    cutter.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength), 0, chunk.length)
    return Buffer.copyBytesFrom(this.#short, 0, this.#filled)
  }
}
