import { shortSha256 } from '#lib/ids'

const SPACE = 0x20

/** Bytes that one step examines. */
const STEP = 4

/** Texts up to this size are normalised in one reused buffer. */
const SCRATCH_BYTES = 256 * 1024
const scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)
const scratchView = new DataView(scratch.buffer)

/** A UTF-16 code unit takes at most three bytes of UTF-8. */
const MAX_BYTES_PER_UNIT = 3

/** Separates a text from its other blocks. The byte never occurs in UTF-8, so no text alone gives the same bytes. */
const SEPARATOR = Buffer.of(0xff)

/** The hash of a text, and its length in UTF-8 bytes. */
export interface ContentHash {
  /** The first 128 bits of SHA-256, hex; undefined if the text is only white space. */
  readonly hash: string | undefined
  readonly bytes: number
}

/** Hashes a text with white space collapsed to single spaces and trimmed, and the canonical text of its other blocks (images, files). */
export const contentHash = (text: string, blocks: string): ContentHash => {
  const room = text.length * MAX_BYTES_PER_UNIT + STEP
  const fits = room <= SCRATCH_BYTES
  const buffer = fits ? scratch : Buffer.allocUnsafeSlow(room)
  const bytes = buffer.write(text)
  const length = collapseBytes(fits ? scratchView : new DataView(buffer.buffer), bytes)
  const collapsed = buffer.subarray(0, length)
  if (blocks !== '') return { hash: shortSha256(Buffer.concat([collapsed, SEPARATOR, Buffer.from(blocks)])), bytes }
  return { hash: length === 0 ? undefined : shortSha256(collapsed), bytes }
}

/** Collapses white space in place and returns the new length. Most groups of four bytes stay unchanged and are copied at once. */
const collapseBytes = (bytes: DataView, length: number): number => {
  let at = 0
  let end = 0
  let gap = HIGH_BIT
  while (at < length) {
    const four = bytes.getInt32(at, true)
    const spaces = spacesIn(four)
    if ((belowSpace(four) | (spaces & ((spaces << 8) | gap))) === 0 && at + STEP <= length) {
      bytes.setInt32(end, four, true)
      gap = spaces >>> 24
      at += STEP
      end += STEP
      continue
    }
    const byte = bytes.getUint8(at++)
    if (!isBlank(byte)) {
      bytes.setUint8(end++, byte)
      gap = 0
    } else if (gap === 0) {
      bytes.setUint8(end++, SPACE)
      gap = HIGH_BIT
    }
  }
  return end > 0 && gap !== 0 ? end - 1 : end
}

const HIGH_BIT = 0x80

/** Sets the high bit of each of the four bytes that is a space. */
const spacesIn = (four: number): number => {
  const other = four ^ 0x20202020
  return ~(((other & 0x7f7f7f7f) + 0x7f7f7f7f) | other | 0x7f7f7f7f)
}

/** Not 0 if one of four bytes is less than a space. */
const belowSpace = (four: number): number => (four - 0x20202020) & ~four & 0x80808080

const isBlank = (byte: number): boolean => byte === SPACE || (byte >= 0x09 && byte <= 0x0d)
