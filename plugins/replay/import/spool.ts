import { randomBytes } from 'node:crypto'
import { readSync } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { GuardError, isPlain } from 'guard-gateway/core'
import { checkEncoding } from '#lib/http'
import { ImportFile } from '#lib/trace-file'

/** Smaller files stay in memory, because a thread starts slower than they parse. */
const INLINE_BYTES = 262_144
const CHUNK_BYTES = 65_536

/** A received file: a small one in memory, a large one in an unnamed file on disk. */
export interface Spooled {
  readonly size: number
  /** Bytes in memory, or a file descriptor. */
  readonly content: Buffer | number
  readonly file: ImportFile
  /** Releases the file. */
  close(): Promise<void>
}

const inflaters: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}

/** Receives a file with a content encoding, or one that is compressed by itself with gzip. Throws BODY_TOO_LARGE, INVALID_BODY, UNSUPPORTED_ENCODING. */
export const spooled = async (body: Readable, encoding: string | undefined, max_bytes: number): Promise<Spooled> => {
  checkEncoding(encoding)
  const inflate = isPlain(encoding) ? undefined : inflaters[encoding?.toLowerCase() ?? '']
  if (inflate !== undefined) return inflated(body, inflate(), encoding ?? '', max_bytes)
  const { isGzip, whole } = await beginning(body)
  return isGzip
    ? inflated(Readable.from(whole, { objectMode: false }), createGunzip(), 'gzip', max_bytes)
    : collected(whole, max_bytes, 'The body is larger')
}

/** Whether a file is compressed, by its first bytes, and all of it. */
const beginning = async (
  body: AsyncIterable<Buffer>,
): Promise<{ readonly isGzip: boolean; readonly whole: AsyncIterable<Buffer> }> => {
  const chunks = body[Symbol.asyncIterator]()
  const first = await chunks.next()
  const rest = async function* (): AsyncGenerator<Buffer> {
    if (first.done !== true) yield first.value
    yield* { [Symbol.asyncIterator]: () => chunks }
  }
  return { isGzip: first.done !== true && first.value[0] === 0x1f && first.value[1] === 0x8b, whole: rest() }
}

const inflated = async (body: Readable, plain: Transform, encoding: string, max_bytes: number): Promise<Spooled> => {
  body.once('error', (error) => plain.destroy(error))
  body.pipe(plain)
  try {
    return await collected(plain, max_bytes, 'The body inflates to more')
  } catch (cause) {
    if (cause instanceof GuardError) throw cause
    throw new GuardError('INVALID_BODY', `The body is not what it says to be: it cannot be read as ${encoding}.`, {
      cause,
    })
  } finally {
    body.unpipe(plain)
    body.resume()
  }
}

const collected = async (body: AsyncIterable<Buffer>, max_bytes: number, what: string): Promise<Spooled> => {
  const few: Buffer[] = []
  let size = 0
  let disk: FileHandle | undefined
  try {
    for await (const chunk of body) {
      size += chunk.length
      if (size > max_bytes)
        throw new GuardError('BODY_TOO_LARGE', `${what} than ${max_bytes} bytes, the most that an import may have.`)
      few.push(chunk)
      if (size <= INLINE_BYTES) continue
      disk ??= await nameless()
      await disk.appendFile(Buffer.concat(few.splice(0)))
    }
  } catch (error) {
    await disk?.close()
    throw error
  }
  return disk === undefined ? inMemory(Buffer.concat(few)) : onDisk(disk, size)
}

/** A private file without a name; it disappears with its process. */
const nameless = async (): Promise<FileHandle> => {
  const path = join(tmpdir(), `guard-import-${randomBytes(8).toString('hex')}`)
  const file = await open(path, 'wx+', 0o600)
  await rm(path, { force: true })
  return file
}

const inMemory = (content: Buffer): Spooled => ({
  size: content.length,
  content,
  file: new ImportFile(() => [content]),
  close: async () => {},
})

const onDisk = (file: FileHandle, size: number): Spooled => ({
  size,
  content: file.fd,
  file: fileAt(file.fd),
  close: () => file.close(),
})

/** File of a descriptor; each read starts at the beginning. */
export const fileAt = (descriptor: number): ImportFile =>
  new ImportFile(function* () {
    for (let at = 0; ; ) {
      const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES)
      const read = readSync(descriptor, chunk, 0, CHUNK_BYTES, at)
      if (read === 0) return
      at += read
      yield chunk.subarray(0, read)
    }
  })
