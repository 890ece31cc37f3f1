import { crc32 } from 'node:zlib'
import { LRU } from 'tiny-lru'

const MAX_NAMES = 4096
const MAX_PER_NAME = 4
/** A checksum covers so many bytes, right before the middle of a body: the first bytes are often the same in all bodies of a client. */
const WINDOW_BYTES = 1024

interface PrefixChecksum {
  /** Half the length of the body, in bytes. */
  readonly prefix_bytes: number
  readonly checksum: number
}

/** Checksums of the beginnings of bodies, by name. They take almost no memory, and say whether a later body probably continues an earlier one. */
export class PrefixChecksums {
  readonly #byName = new LRU<PrefixChecksum[]>(MAX_NAMES)

  clear(): void {
    this.#byName.clear()
  }

  /** Whether this body starts like an earlier one of this name. Its checksum is remembered in any case. */
  continues(name: string, body: Buffer): boolean {
    const earlier = this.#byName.peek(name) ?? []
    const prefix_bytes = body.length >> 1
    const prefix = { prefix_bytes, checksum: checksumOf(body, prefix_bytes) }
    const match = earlier.findIndex((other) => {
      if (other.prefix_bytes === prefix_bytes) return other.checksum === prefix.checksum
      return body.length >= other.prefix_bytes && checksumOf(body, other.prefix_bytes) === other.checksum
    })
    if (match !== -1) earlier.splice(match, 1)
    earlier.unshift(prefix)
    if (earlier.length > MAX_PER_NAME) earlier.pop()
    this.#byName.set(name, earlier)
    return match !== -1
  }
}

/** Whether a body starts like a cached one: compares the bytes that a checksum would cover. */
export const sharesPrefix = (
  body: Buffer,
  { bytes, length }: { readonly bytes: Buffer; readonly length: number },
): boolean => {
  const prefix_bytes = length >> 1
  const start = windowStart(prefix_bytes)
  return body.length >= prefix_bytes && body.compare(bytes, start, prefix_bytes, start, prefix_bytes) === 0
}

const checksumOf = (body: Buffer, prefix_bytes: number): number =>
  crc32(body.subarray(windowStart(prefix_bytes), prefix_bytes))

const windowStart = (prefix_bytes: number): number => Math.max(prefix_bytes - WINDOW_BYTES, 0)
