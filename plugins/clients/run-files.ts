import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { writeError } from 'guard-gateway/lib/errors'
import type { Launch } from './profile.ts'

/** Path of a run's folder, which exists only if its client needs files. */
export const runFolder = (run_id: string): string => join(tmpdir(), `guard-${run_id}`)

/** Writes a run's files where only their owner can read them, and returns a function that removes them. Throws USAGE if they cannot be written. */
export const writeRunFiles = async (
  folder: string,
  { files = [], links = [] }: Pick<Launch, 'files' | 'links'>,
): Promise<(() => Promise<void>) | undefined> => {
  if (files.length === 0) return undefined
  const remove = () => rm(folder, { recursive: true, force: true })
  const refused = (error: unknown) => writeError(folder, error, 'Set TMPDIR to a folder that can be written.')
  // not recursive: it fails for a folder that somebody else has made
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => Promise.reject(refused(error)))
  try {
    for (const { path, text } of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 })
      await writeFile(join(folder, path), text, { mode: 0o600, flag: 'wx' })
    }
    for (const { path, target } of links) await symlink(target, join(folder, path), 'junction')
    return remove
  } catch (error) {
    await remove()
    throw refused(error)
  }
}
