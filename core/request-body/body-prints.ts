import { crc32 } from 'node:zlib'

const NAME_LIMIT = 4096
const PER_NAME = 4
/** So many stretches of so many bytes are looked at, spread over the first half of a body. */
const STRETCHES = 16
const STRETCH_BYTES = 256

interface BodyPrint {
  /** Half the body's length. */
  readonly reach: number
  readonly checksums: readonly number[]
}

/** Remembers so little of each body that it costs next to nothing, and enough to tell whether a later one goes on from it. */
export class BodyPrints {
  readonly #byName = new Map<string, BodyPrint[]>()

  /** Whether this body begins like an earlier one of this name; it is remembered either way. */
  continues(name: string, body: Buffer): boolean {
    const earlier = this.#byName.get(name) ?? []
    const known = earlier.findIndex((print) => begins(body, print))
    if (known !== -1) earlier.splice(known, 1)
    earlier.unshift(bodyPrintOf(body))
    if (earlier.length > PER_NAME) earlier.pop()
    this.#byName.delete(name)
    this.#byName.set(name, earlier)
    if (this.#byName.size > NAME_LIMIT) this.#byName.delete(this.#byName.keys().next().value ?? '')
    return known !== -1
  }
}

const bodyPrintOf = (body: Buffer): BodyPrint => {
  const reach = body.length >> 1
  return { reach, checksums: Array.from({ length: STRETCHES }, (_, index) => checksumOf(body, reach, index)) }
}

const begins = (body: Buffer, { reach, checksums }: BodyPrint): boolean =>
  body.length >= reach && checksums.every((checksum, index) => checksumOf(body, reach, index) === checksum)

const checksumOf = (body: Buffer, reach: number, index: number): number => {
  const start = Math.floor((reach * index) / STRETCHES)
  return crc32(body.subarray(start, Math.min(start + STRETCH_BYTES, reach)))
}
