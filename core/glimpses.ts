import { crc32 } from 'node:zlib'

const NAME_LIMIT = 4096
const PER_NAME = 4
/** So many stretches of so many bytes are looked at, spread over the first half of a body. */
const STRETCHES = 16
const STRETCH_BYTES = 256

interface Glimpse {
  /** Half the body's length. */
  readonly reach: number
  readonly prints: readonly number[]
}

/** Remembers so little of each body that it costs next to nothing, and enough to tell whether a later one goes on from it. */
export class Glimpses {
  readonly #byName = new Map<string, Glimpse[]>()

  /** Whether this body begins like an earlier one of this name; it is remembered either way. */
  continues(name: string, body: Buffer): boolean {
    const glimpses = this.#byName.get(name) ?? []
    const known = glimpses.findIndex((glimpse) => begins(body, glimpse))
    if (known !== -1) glimpses.splice(known, 1)
    glimpses.unshift(glimpseOf(body))
    if (glimpses.length > PER_NAME) glimpses.pop()
    this.#byName.delete(name)
    this.#byName.set(name, glimpses)
    if (this.#byName.size > NAME_LIMIT) this.#byName.delete(this.#byName.keys().next().value ?? '')
    return known !== -1
  }
}

const glimpseOf = (body: Buffer): Glimpse => {
  const reach = body.length >> 1
  return { reach, prints: Array.from({ length: STRETCHES }, (_, index) => printOf(body, reach, index)) }
}

const begins = (body: Buffer, { reach, prints }: Glimpse): boolean =>
  body.length >= reach && prints.every((print, index) => printOf(body, reach, index) === print)

const printOf = (body: Buffer, reach: number, index: number): number => {
  const start = Math.floor((reach * index) / STRETCHES)
  return crc32(body.subarray(start, Math.min(start + STRETCH_BYTES, reach)))
}
