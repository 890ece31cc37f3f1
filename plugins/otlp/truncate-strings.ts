import { JsonMarks, mark } from 'guard-gateway/lib/json'
import { type Pace, paced } from 'guard-gateway/lib/time-slice'

const BACKSLASH = 0x5c
const LOWER_U = 0x75

/** Bytes of one JSON string that are kept: metadata and previews are shorter. */
const MAX_TEXT = 4_096
/** A body up to this size is not truncated. */
const SMALL = 1_048_576

/** Bytes per step. */
const BLOCK = 65_536

/**
 * Truncates long strings in JSON bytes, so that a large body costs little more than what is kept of it. Yields to other work. Invalid JSON
 * stays invalid.
 */
export const truncateStrings = async (bytes: Buffer, pace: Pace): Promise<Buffer> => {
  if (bytes.length <= SMALL) return bytes
  const texts = new StringTruncator(bytes)
  await paced(texts.steps(), pace)
  return texts.rest()
}

/** Finds the long strings of a JSON text and cuts their ends. */
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
    for (let at = 0; at < this.#bytes.length; at += BLOCK) {
      marks.feed(this.#bytes.subarray(at, at + BLOCK))
      for (let byte = marks.next(); byte !== 0; byte = marks.next()) this.#mark(byte, at + marks.at)
      yield
    }
  }

  /** The truncated text. */
  rest(): Buffer {
    return this.#from === 0 ? this.#bytes : Buffer.concat([...this.#pieces, this.#bytes.subarray(this.#from)])
  }

  #mark(byte: number, at: number): void {
    if (byte === mark.string) this.#open = at
    else if (byte === mark.stringEnd && at - this.#open - 1 > MAX_TEXT) {
      this.#pieces.push(this.#bytes.subarray(this.#from, cutAt(this.#bytes, this.#open + 1)))
      this.#from = at
    }
  }
}

/** The last offset within the limit that splits neither an escape nor a character. */
const cutAt = (bytes: Buffer, from: number): number => {
  const limit = from + MAX_TEXT
  let at = from
  while (at < limit) {
    const length = bytes[at] !== BACKSLASH ? 1 : bytes[at + 1] === LOWER_U ? 6 : 2
    if (at + length > limit) return at
    at += length
  }
  while (((bytes[at] ?? 0) & 0xc0) === 0x80) at--
  return at
}
