import { shortSha256 } from 'guard-gateway/lib/ids'
import type { Encoding } from './byte-strings.ts'

const SPACE = 0x20

/** Bytes that are looked at in one step. */
const STEP = 4

/** Texts up to this size are normalised in a buffer that is used again and again. */
const SCRATCH_BYTES = 256 * 1024
const scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)
const scratchView = new DataView(scratch.buffer)

/** A UTF-16 unit takes at most three bytes. */
const MAX_BYTES_PER_UNIT = 3

/** Between a text and what stands beside it: a byte of no UTF-8, so that no text looks like both. */
const BESIDE = Buffer.of(0xff)

/** What a text is known by, and its length in UTF-8. */
export interface ContentHash {
  /** The first 128 bits of SHA-256, hex; undefined if there is nothing but white space. */
  readonly hash: string | undefined
  readonly bytes: number
}

/** Hash of a text with runs of white space as one space and ends trimmed, and of the canonical text of what stands beside it. */
export const contentHash = (text: string, blocks: string, encoding: Encoding): ContentHash => {
  const room = text.length * MAX_BYTES_PER_UNIT + STEP
  const fits = room <= SCRATCH_BYTES
  const buffer = fits ? scratch : Buffer.allocUnsafeSlow(room)
  const bytes = buffer.write(text, 0, encoding)
  const length = collapseBytes(fits ? scratchView : new DataView(buffer.buffer), bytes)
  const collapsed = buffer.subarray(0, length)
  if (blocks !== '') return { hash: shortSha256(Buffer.concat([collapsed, BESIDE, Buffer.from(blocks)])), bytes }
  return { hash: length === 0 ? undefined : shortSha256(collapsed), bytes }
}

/** Collapses in place; gives the new length. Four bytes at once where they stay as they are, which most do. */
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

/** The high bit of each of four bytes that is a space. */
const spacesIn = (four: number): number => {
  const other = four ^ 0x20202020
  return ~(((other & 0x7f7f7f7f) + 0x7f7f7f7f) | other | 0x7f7f7f7f)
}

/** Not 0 if one of four bytes is less than a space. */
const belowSpace = (four: number): number => (four - 0x20202020) & ~four & 0x80808080

const isBlank = (byte: number): boolean => byte === SPACE || (byte >= 0x09 && byte <= 0x0d)
