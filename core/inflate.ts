import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { GuardError } from './errors.ts'

type Inflate = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

/** The one content coding a request may have; made once, since looking one up is on the way of every request. */
const inflaters: ReadonlyMap<string, Inflate> = new Map<string, Inflate>([
  ['gzip', promisify(zlib.gunzip)],
  ['x-gzip', promisify(zlib.gunzip)],
  ['deflate', promisify(zlib.inflate)],
  ['br', promisify(zlib.brotliDecompress)],
  ['zstd', promisify(zlib.zstdDecompress)],
])

/** The body is to be read as it stands: no coding is named, or one that changes nothing. */
export const isPlain = (encoding: string | undefined): boolean =>
  encoding === undefined || encoding === '' || encoding.toLowerCase() === 'identity'

/** Refuses a content encoding that nobody here can read. Throws UNSUPPORTED_ENCODING. */
export const checkEncoding = (encoding: string | undefined): void => {
  if (isPlain(encoding) || inflaters.has(encoding?.toLowerCase() ?? '')) return
  throw new GuardError('UNSUPPORTED_ENCODING')
}

/**
 * The bytes behind a content encoding, at most `limit` of them, inflated beside the event loop.
 * Throws UNSUPPORTED_ENCODING, BODY_TOO_LARGE, or INVALID_BODY for bytes that are not in that encoding.
 */
export const inflated = async (bytes: Buffer, encoding: string | undefined, limit: number): Promise<Buffer> => {
  if (isPlain(encoding)) return bytes
  const name = encoding?.toLowerCase() ?? ''
  const inflate = inflaters.get(name)
  if (inflate === undefined) throw new GuardError('UNSUPPORTED_ENCODING')
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
