const MAGIC = 0xfd2fb528
/** A skippable frame has one of sixteen magic numbers; only their last four bits differ. */
const SKIPPABLE = 0x184d2a50
const SKIPPABLE_MASK = 0xfffffff0
const HEADER_BYTES = 8
const RLE = 1
const RESERVED = 3

/** More frames than a sender has a reason for would only cost time: each is inflated by a call of its own. */
const MAX_FRAMES = 4_096

/**
 * The frames with content of a zstd body (RFC 8878, 3.1), in order; skippable frames are passed over.
 * Reads lengths alone and inflates nothing. Throws RangeError for what is no whole sequence of frames.
 */
export const zstdFrames = (bytes: Buffer): Buffer[] => {
  const frames: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const magic = bytes.readUInt32LE(at)
    const isSkippable = (magic & SKIPPABLE_MASK) >>> 0 === SKIPPABLE
    if (!isSkippable && magic !== MAGIC) throw new RangeError('unknown frame')
    const end = isSkippable ? at + HEADER_BYTES + bytes.readUInt32LE(at + 4) : frameEnd(bytes, at)
    if (end > bytes.length) throw new RangeError('truncated frame')
    if (!isSkippable) frames.push(bytes.subarray(at, end))
    if (frames.length > MAX_FRAMES) throw new RangeError('too many frames')
    at = end
  }
  return frames
}

/** Where the frame that begins at `at` ends: after its header, its blocks and its checksum. */
const frameEnd = (bytes: Buffer, at: number): number => {
  const descriptor = bytes.readUInt8(at + 4)
  let next = at + 5 + headerFields(descriptor)
  for (let isLast = false; !isLast; ) {
    const header = bytes.readUIntLE(next, 3)
    const type = (header >> 1) & 3
    if (type === RESERVED) throw new RangeError('reserved block')
    isLast = (header & 1) === 1
    // a repeated byte is written once, whatever its length
    next += 3 + (type === RLE ? 1 : header >> 3)
  }
  const hasChecksum = (descriptor & 4) !== 0
  return next + (hasChecksum ? 4 : 0)
}

/** Bytes of window, dictionary id and content size, which the descriptor announces. */
const headerFields = (descriptor: number): number => {
  const isSingleSegment = (descriptor & 0x20) !== 0
  const sizeFlag = descriptor >> 6
  const contentSize = sizeFlag === 0 ? (isSingleSegment ? 1 : 0) : 1 << sizeFlag
  const dictionaryId = [0, 1, 2, 4][descriptor & 3] ?? 0
  return (isSingleSegment ? 0 : 1) + dictionaryId + contentSize
}
