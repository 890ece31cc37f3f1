import { shortSha256 } from 'guard-gateway/lib/ids'

const SPACE = 0x20

/** Texts up to this size are normalised in one reused buffer. */
const SCRATCH_BYTES = 256 * 1024
const scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)

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
  const room = text.length * MAX_BYTES_PER_UNIT
  const buffer = room <= SCRATCH_BYTES ? scratch : Buffer.allocUnsafeSlow(room)
  const bytes = buffer.write(text)
  const length = collapseBytes(buffer, bytes)
  const collapsed = buffer.subarray(0, length)
  if (blocks !== '') return { hash: shortSha256(Buffer.concat([collapsed, SEPARATOR, Buffer.from(blocks)])), bytes }
  return { hash: length === 0 ? undefined : shortSha256(collapsed), bytes }
}

/** Collapses white space in place and returns the new length. */
const collapseBytes = (bytes: Buffer, length: number): number => {
  let end = 0
  let gap = true
  for (let at = 0; at < length; at++) {
    const byte = bytes[at] ?? SPACE
    const blank = isBlank(byte)
    if (!blank) bytes[end++] = byte
    else if (!gap) bytes[end++] = SPACE
    gap = blank
  }
  return end > 0 && gap ? end - 1 : end
}

const isBlank = (byte: number): boolean => byte === SPACE || (byte >= 0x09 && byte <= 0x0d)
