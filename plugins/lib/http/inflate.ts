import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { GuardError, isPlain } from 'guard-gateway/core'
import { ConcurrencyLimit } from './concurrency-limit.ts'
import { isZlibStream } from './zlib-stream.ts'
import { zstdFrames } from './zstd-frames.ts'

interface Limit {
  readonly maxOutputLength: number
}
type Inflate = (bytes: Buffer, limit: Limit) => Promise<Buffer>

const inflateZlib = promisify<Buffer, Limit, Buffer>(zlib.inflate)
const inflateRaw = promisify<Buffer, Limit, Buffer>(zlib.inflateRaw)
const inflateFrame = promisify<Buffer, Limit, Buffer>(zlib.zstdDecompress)

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
