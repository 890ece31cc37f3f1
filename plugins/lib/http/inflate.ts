import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { GuardError, isPlain } from 'guard-gateway/core'
import { ConcurrencyLimit } from './concurrency-limit.ts'

type Inflate = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

/** The one content coding a request may have; made once, since looking one up is on the way of every request. */
const inflaters: ReadonlyMap<string, Inflate> = new Map<string, Inflate>([
  ['gzip', promisify(zlib.gunzip)],
  ['x-gzip', promisify(zlib.gunzip)],
  ['deflate', promisify(zlib.inflate)],
  ['br', promisify(zlib.brotliDecompress)],
  ['zstd', promisify(zlib.zstdDecompress)],
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
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
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
