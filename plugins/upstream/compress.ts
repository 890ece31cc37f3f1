import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { GuardError } from 'guard-gateway/core'
import { isZlibStream } from 'guard-gateway/lib/http'

type Compress = (bytes: Buffer) => Promise<Buffer>

const gzip: Compress = promisify(zlib.gzip)
const brotli = promisify(zlib.brotliCompress)
/** Brotli's own default takes a second for a megabyte. */
const BROTLI = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }

const compressors: ReadonlyMap<string, Compress> = new Map<string, Compress>([
  ['gzip', gzip],
  ['x-gzip', gzip],
  ['deflate', promisify(zlib.deflate)],
  ['br', (bytes) => brotli(bytes, BROTLI)],
  ['zstd', promisify(zlib.zstdCompress)],
])

const deflateRaw: Compress = promisify(zlib.deflateRaw)

/** The bytes in the content encoding in which they came as `before`, compressed off the event loop. Throws UNSUPPORTED_ENCODING. */
export const compressedAs = (before: Buffer, bytes: Buffer, encoding: string | undefined): Promise<Buffer> => {
  const name = encoding?.toLowerCase() ?? ''
  const compress = name === 'deflate' && !isZlibStream(before) ? deflateRaw : compressors.get(name)
  if (compress === undefined) throw new GuardError('UNSUPPORTED_ENCODING')
  return compress(bytes)
}
