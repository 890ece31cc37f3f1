import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { GuardError, isPlain } from 'guard-gateway/core'
import { ConcurrencyLimit } from './concurrency-limit.ts'

interface Limit {
  readonly maxOutputLength: number
}
type Inflate = (bytes: Buffer, limit: Limit) => Promise<Buffer>

const inflateZlib = promisify<Buffer, Limit, Buffer>(zlib.inflate)
const inflateRaw = promisify<Buffer, Limit, Buffer>(zlib.inflateRaw)
const inflateFrame = promisify<Buffer, Limit, Buffer>(zlib.zstdDecompress)

/** Whether bytes begin with the header of a zlib stream (RFC 1950, 2.2); a raw deflate stream practically never does. */
export const isZlibStream = (bytes: Uint8Array): boolean => {
  const [method = 0, flags = 0] = bytes
  return (method & 0x0f) === 8 && method >> 4 <= 7 && ((method << 8) | flags) % 31 === 0
}

/** It means the zlib form, but some senders leave that out (RFC 9110, 8.4.1.2). */
const inflateDeflate: Inflate = (bytes, limit) => (isZlibStream(bytes) ? inflateZlib : inflateRaw)(bytes, limit)

/** Node reads the first frame alone, and a body may have several. */
const inflateZstd: Inflate = async (bytes, { maxOutputLength }) => {
  const parts: Buffer[] = []
  let length = 0
  for (const frame of zstdFrames(bytes)) {
    const part = await inflateFrame(frame, { maxOutputLength: Math.max(1, maxOutputLength - length) })
    parts.push(part)
    length += part.length
    if (length > maxOutputLength) throw new GuardError('BODY_TOO_LARGE')
  }
  const [only] = parts
  return only !== undefined && parts.length === 1 ? only : Buffer.concat(parts, length)
}

/** The one content coding a request may have; made once, since looking one up is on the way of every request. */
const inflaters: ReadonlyMap<string, Inflate> = new Map<string, Inflate>([
  ['gzip', promisify(zlib.gunzip)],
  ['x-gzip', promisify(zlib.gunzip)],
  ['deflate', inflateDeflate],
  ['br', promisify(zlib.brotliDecompress)],
  ['zstd', inflateZstd],
])

/** Refuses an unknown content encoding. Throws UNSUPPORTED_ENCODING. */
export const checkEncoding = (encoding: string | undefined): void => {
  if (isPlain(encoding) || inflaters.has(encoding?.toLowerCase() ?? '')) return
  throw new GuardError('UNSUPPORTED_ENCODING')
}

/** Bodies that are inflated at once: a small one may become a thousand times as large, and many such would need more memory than there is. */
const inflations = new ConcurrencyLimit(2)

/** The bytes after a content encoding, at most `limit` of them, inflated beside the event loop. Throws as `withInflated` does. */
export const inflated = async (bytes: Buffer, encoding: string | undefined, limit: number): Promise<Buffer> =>
  isPlain(encoding) ? bytes : withInflated(bytes, encoding, limit, (plain) => plain)

/**
 * What `use` makes of the bytes after a content encoding, at most `limit` of them. Few are inflated at once, in whatever requests;
 * the next waits until `use` is through with one.
 * Throws UNSUPPORTED_ENCODING, BODY_TOO_LARGE, INVALID_BODY for bytes that are not in that encoding, or what `use` throws.
 */
export const withInflated = async <T>(
  bytes: Buffer,
  encoding: string | undefined,
  limit: number,
  use: (plain: Buffer) => T | Promise<T>,
): Promise<T> => {
  const name = encoding?.toLowerCase() ?? ''
  const inflate = inflaters.get(name)
  if (inflate === undefined) throw new GuardError('UNSUPPORTED_ENCODING')
  return inflations.run(async () => use(await plainOf(inflate, name, bytes, limit)))
}

const plainOf = async (inflate: Inflate, name: string, bytes: Buffer, limit: number): Promise<Buffer> => {
  try {
    return await inflate(bytes, { maxOutputLength: limit })
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ERR_BUFFER_TOO_LARGE' || code === 'BODY_TOO_LARGE') {
      throw new GuardError(
        'BODY_TOO_LARGE',
        `The body inflates to more than ${limit} bytes. Send less, or raise server.body_limit_bytes.`,
        {
          cause,
        },
      )
    }
    throw new GuardError('INVALID_BODY', `The body is not what content-encoding says: it cannot be read as ${name}.`, {
      cause,
    })
  }
}

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
const zstdFrames = (bytes: Buffer): Buffer[] => {
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
