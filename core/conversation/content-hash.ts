import { hash } from 'node:crypto'

const SPACE = 0x20

/** Texts up to this size are normalised in a buffer that is used again and again. */
const SCRATCH_BYTES = 256 * 1024
const scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)

/** A UTF-16 unit takes at most three bytes. */
const MAX_BYTES_PER_UNIT = 3

/** What a text is known by, and its length in UTF-8. */
export interface ContentHash {
  /** Hex; undefined if there is nothing but white space. */
  readonly hash: string | undefined
  readonly bytes: number
}

/** SHA-256 of a text with runs of white space as one space and ends trimmed, and of the canonical text of what stands beside it. */
export const contentHash = (text: string, blocks: string): ContentHash => {
  const room = text.length * MAX_BYTES_PER_UNIT
  const buffer = room <= SCRATCH_BYTES ? scratch : Buffer.allocUnsafe(room)
  const bytes = buffer.write(text, 0, 'utf8')
  const length = collapseBytes(buffer, bytes)
  if (blocks !== '') return { hash: hash('sha256', `${buffer.toString('utf8', 0, length)}\0${blocks}`, 'hex'), bytes }
  return { hash: length === 0 ? undefined : hash('sha256', buffer.subarray(0, length), 'hex'), bytes }
}

/** Collapses in place; gives the new length. */
const collapseBytes = (bytes: Buffer, length: number): number => {
  let end = 0
  let gap = true
  for (let index = 0; index < length; index++) {
    const byte = bytes[index] ?? 0
    if (byte > SPACE || !isBlank(byte)) {
      bytes[end++] = byte
      gap = false
    } else if (!gap) {
      bytes[end++] = SPACE
      gap = true
    }
  }
  return end > 0 && gap ? end - 1 : end
}

const isBlank = (byte: number): boolean => byte === SPACE || (byte >= 0x09 && byte <= 0x0d)
