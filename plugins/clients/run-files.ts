import { readlinkSync } from 'node:fs'
import { lstat, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { writeError } from '#lib/errors'
import { sha256 } from '#lib/ids'
import type { Launch } from './profile.ts'

/** Path of a run's folder, which exists only if its client needs files. It names the process that will remove it. */
export const runFolder = (run_id: string): string => join(tmpdir(), `guard-${run_id}_${processes()}_${process.pid}`)

const FOLDER = /^guard-run_[0-9a-z]+_([0-9a-f]{8})_(\d+)$/

/** Tells machines and containers that count processes of their own and share a temporary folder. */
const processes = (): string => sha256(`${hostname()} ${processNamespace()}`).slice(0, 8)

const processNamespace = (): string => {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}

/** Removes folders of this user's runs that were killed: keys may be in them. */
export const removeAbandoned = async (): Promise<void> => {
  const here = processes()
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const [, where, pid] = FOLDER.exec(name) ?? []
    if (where !== here || isAlive(Number(pid))) continue
    const folder = join(tmpdir(), name)
    const found = await lstat(folder).catch(() => undefined)
    if (found?.isDirectory() === true && found.uid === (process.getuid?.() ?? found.uid))
      await rm(folder, { recursive: true, force: true }).catch(() => {})
  }
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

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
