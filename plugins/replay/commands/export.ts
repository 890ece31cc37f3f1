import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { access, rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { GuardError, type Input, type Io, unwritable } from 'guard-gateway/core'
import type { ReplayCommandOptions } from './asked.ts'
import { Progress } from './progress.ts'

/** Writes a run in an export format; a file appears under its name only when it is complete. Throws USAGE for one that exists already. */
export const exportRun = async ({ asking }: ReplayCommandOptions, input: Input, io: Io): Promise<number> => {
  const { format = 'json', output, force } = input.options
  const file = output === undefined ? undefined : resolve(io.cwd, String(output))
  if (file !== undefined && force !== true && (await exists(file)))
    throw new GuardError('USAGE', `${String(output)} exists already. Name another file, or add --force to replace it.`)
  const path = `/api/v1/runs/${encodeURIComponent(input.args[0] ?? '')}/export?format=${encodeURIComponent(String(format))}`
  const progress = new Progress('exporting', undefined, input, io)
  try {
    await asking(async (ask) => {
      const content = Readable.from(progress.counted(await ask('GET', path)))
      await (file === undefined ? written(content, io.out) : writeWhole(content, file))
    })
  } finally {
    progress.done()
  }
  if (file !== undefined && input.options.quiet !== true) io.err.write(`wrote ${String(output)}\n`)
  return 0
}

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  )

/** As fast as whoever reads the results takes them; one who has left, as in `| head`, is no failure. */
const written = async (content: Readable, out: NodeJS.WritableStream): Promise<void> => {
  for await (const chunk of content) {
    if ('destroyed' in out && out.destroyed === true) return
    if (!out.write(chunk)) await once(out, 'drain').catch(unlessLeft)
  }
}

const unlessLeft = (error: NodeJS.ErrnoException): void => {
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
    throw unwritable(file, cause)
  }
}
