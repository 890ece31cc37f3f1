import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { GuardError } from 'guard-gateway/core'

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

/** The bytes in one of the content encodings that a request may have, compressed off the event loop. Throws UNSUPPORTED_ENCODING. */
export const compressed = (bytes: Buffer, encoding: string | undefined): Promise<Buffer> => {
  const compress = compressors.get(encoding?.toLowerCase() ?? '')
  if (compress === undefined) throw new GuardError('UNSUPPORTED_ENCODING')
  return compress(bytes)
}
