import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { access, rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { GuardError, unwritable } from 'guard-gateway/core'
import { type Asked, queryOf, streamed } from './asking.ts'

const filters = { format: 'format', serverId: 'server_id', since: 'since' }

/** Writes the audit bundle; a file appears under its name only when it is complete. Throws USAGE for one that exists already. */
export const exportAudit = async (asked: Asked): Promise<number> => {
  const { io, input } = asked
  const { output, force, quiet } = input.options
  const file = output === undefined ? undefined : resolve(io.cwd, String(output))
  if (file !== undefined && force !== true && (await exists(file)))
    throw new GuardError('USAGE', `${String(output)} exists already. Name another file, or add --force to replace it.`)
  const bundle = await streamed(asked, `/export${queryOf(input, filters)}`)
  if (file === undefined) {
    for await (const chunk of bundle) io.out.write(chunk)
    return 0
  }
  await writeWhole(bundle, file)
  if (quiet !== true) io.err.write(`wrote ${String(output)}\n`)
  return 0
}

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  )

const writeWhole = async (bundle: Readable, file: string): Promise<void> => {
  const unfinished = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    await pipeline(bundle, createWriteStream(unfinished, { flags: 'wx', mode: 0o600 }))
    await rename(unfinished, file)
  } catch (cause) {
    await rm(unfinished, { force: true })
    if (cause instanceof GuardError || (cause as NodeJS.ErrnoException).syscall === undefined) throw cause
    throw unwritable(file, cause)
  }
}
