import { crc32 } from 'node:zlib'

const NAME_LIMIT = 4096
const PER_NAME = 4
/** So much is looked at, right before the middle of a body: what stands at its beginning is often the same in all of a client's. */
const STRETCH_BYTES = 1024

interface BodyPrint {
  /** Half the body's length. */
  readonly reach: number
  readonly checksum: number
}

/** Remembers so little of each body that it costs next to nothing, and enough to tell whether a later one goes on from it. */
export class BodyPrints {
  readonly #byName = new Map<string, BodyPrint[]>()

  clear(): void {
    this.#byName.clear()
  }

  /** Whether this body begins like an earlier one of this name; it is remembered either way. */
  continues(name: string, body: Buffer): boolean {
    const earlier = this.#byName.get(name) ?? []
    const reach = body.length >> 1
    const print = { reach, checksum: checksumOf(body, reach) }
    const known = earlier.findIndex((other) => {
      if (other.reach === reach) return other.checksum === print.checksum
      return body.length >= other.reach && checksumOf(body, other.reach) === other.checksum
    })
    if (known !== -1) earlier.splice(known, 1)
    earlier.unshift(print)
    if (earlier.length > PER_NAME) earlier.pop()
    this.#byName.delete(name)
    this.#byName.set(name, earlier)
    if (this.#byName.size > NAME_LIMIT) this.#byName.delete(this.#byName.keys().next().value ?? '')
    return known !== -1
  }
}

/** Whether a body begins like an earlier one that is at hand, as far as a print would tell. */
export const begins = (
  body: Buffer,
  { bytes, length }: { readonly bytes: Buffer; readonly length: number },
): boolean => {
  const reach = length >> 1
  const start = stretchStart(reach)
  return body.length >= reach && body.compare(bytes, start, reach, start, reach) === 0
}

const checksumOf = (body: Buffer, reach: number): number => crc32(body.subarray(stretchStart(reach), reach))

const stretchStart = (reach: number): number => Math.max(reach - STRETCH_BYTES, 0)
