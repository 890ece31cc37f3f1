import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { GuardError } from 'guard-gateway/core'
import type { Input, Io } from '#lib/command'
import { writeError } from '#lib/errors'

/**
 * Where a command puts what comes in pieces: among its results, or in the file of `--output`, which appears under its
 * name only when it is complete. Throws USAGE for a file that exists already, unless `--force` is given.
 */
export const outputOf = async (
  { output, force }: Input['options'],
  io: Io,
): Promise<(content: Readable) => Promise<void>> => {
  if (output === undefined) return (content) => written(content, io.out)
  const file = resolve(io.cwd, String(output))
  if (force !== true && existsSync(file))
    throw new GuardError('USAGE', `${String(output)} exists already. Name another file, or add --force to replace it.`)
  return (content) => writeWhole(content, file)
}

/** Writes as fast as the reader takes the results. A closed pipe, as in `| head`, is no failure. */
const written = async (content: Readable, out: NodeJS.WritableStream): Promise<void> => {
  for await (const chunk of content) {
    if ('destroyed' in out && out.destroyed === true) return
    if (!out.write(chunk)) await once(out, 'drain').catch(ignoreClosedPipe)
  }
}

const ignoreClosedPipe = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error
}

const writeWhole = async (content: Readable, file: string): Promise<void> => {
  const unfinished = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    await pipeline(content, createWriteStream(unfinished, { flags: 'wx', mode: 0o600 }))
    await rename(unfinished, file)
  } catch (cause) {
    await rm(unfinished, { force: true })
    if (cause instanceof GuardError || (cause as NodeJS.ErrnoException).syscall === undefined) throw cause
    throw writeError(file, cause)
  }
}
