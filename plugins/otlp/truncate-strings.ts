import { JsonMarks, mark } from 'guard-gateway/lib/json'
import { type Pace, paced } from 'guard-gateway/lib/time-slice'

const BACKSLASH = 0x5c
const LOWER_U = 0x75

/** Bytes of a JSON string that are retained; metadata and previews are shorter. */
const MAX_STRING_BYTES = 4_096
/** A body up to this size is not truncated. */
const MIN_BODY_BYTES = 1_048_576

/** Bytes per step. */
const CHUNK_BYTES = 65_536

/**
 * Truncates long strings in JSON bytes, so that a large body costs little more than its retained part. Yields to other work. Invalid JSON
 * stays invalid.
 */
export const truncateStrings = async (bytes: Buffer, pace: Pace): Promise<Buffer> => {
  if (bytes.length <= MIN_BODY_BYTES) return bytes
  const truncator = new StringTruncator(bytes)
  await paced(truncator.steps(), pace)
  return truncator.result()
}

/** Finds long JSON strings and truncates them. */
class StringTruncator {
  readonly #bytes: Buffer
  readonly #pieces: Buffer[] = []
  #from = 0
  #open = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  *steps(): Generator<void> {
    const marks = new JsonMarks()
    for (let at = 0; at < this.#bytes.length; at += CHUNK_BYTES) {
      marks.feed(this.#bytes.subarray(at, at + CHUNK_BYTES))
      for (let byte = marks.next(); byte !== 0; byte = marks.next()) this.#mark(byte, at + marks.at)
      yield
    }
  }

  /** The truncated text. */
  result(): Buffer {
    return this.#from === 0 ? this.#bytes : Buffer.concat([...this.#pieces, this.#bytes.subarray(this.#from)])
  }

  #mark(byte: number, at: number): void {
    if (byte === mark.string) this.#open = at
    else if (byte === mark.stringEnd && at - this.#open - 1 > MAX_STRING_BYTES) {
      this.#pieces.push(this.#bytes.subarray(this.#from, truncationOffset(this.#bytes, this.#open + 1)))
      this.#from = at
    }
  }
}

/** Last offset within the limit that splits no escape and no character. */
const truncationOffset = (bytes: Buffer, from: number): number => {
  const limit = from + MAX_STRING_BYTES
  let at = from
  while (at < limit) {
    const length = bytes[at] !== BACKSLASH ? 1 : bytes[at + 1] === LOWER_U ? 6 : 2
    if (at + length > limit) return at
    at += length
  }
  while (((bytes[at] ?? 0) & 0xc0) === 0x80) at--
  return at
}
