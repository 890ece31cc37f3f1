import { randomUUID } from 'node:crypto'
import { lstat, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import { writeError } from '#lib/errors'
import { sha256 } from '#lib/ids'
import { makeFolders } from '#lib/private-folders'
import { clientErrors } from './error-codes.ts'
import { MARK, type ProfileFile } from './profile.ts'

export type WriteResult = 'written' | 'unchanged'

/** Writes a profile below `folder`. Throws PROFILE_EXISTS for a file that was written or edited by somebody else. */
export const writeProfile = async (folder: string, { path, text }: ProfileFile): Promise<WriteResult> => {
  const file = join(folder, path)
  const sealed = text.replace(MARK, `${MARK}, seal ${sealOf(text)}`)
  const before = await textAt(file)
  if (before === sealed) return 'unchanged'
  if (before !== undefined && !isUnedited(before))
    throw new GuardError(
      clientErrors.PROFILE_EXISTS,
      `${file} has been edited or was not written by setup; it was left as it is. Move it away, or choose another folder with --dir.`,
    )
  await writeNew(file, sealed)
  return 'written'
}

/** Text of a file, empty if it cannot be read (a folder, a dangling link); undefined if it does not exist. */
const textAt = async (file: string): Promise<string | undefined> => {
  try {
    return await readFile(file, 'utf8')
  } catch {
    return lstat(file).then(
      () => '',
      () => undefined,
    )
  }
}

const SEAL = new RegExp(`(${MARK}), seal ([0-9a-f]{16})`)

/** Whether setup wrote the text and nobody has edited it. */
const isUnedited = (text: string): boolean => SEAL.exec(text)?.[2] === sealOf(text.replace(SEAL, '$1'))

const sealOf = (text: string): string => sha256(text).slice(0, 16)

/** Writes a file atomically with mode 0600. New folders have mode 0700. Throws USAGE if it cannot be written. */
export const writeNew = async (file: string, text: string): Promise<void> => {
  try {
    await writeAtomically(file, text)
  } catch (error) {
    throw writeError(file, error, 'Choose another folder with --dir.')
  }
}

const writeAtomically = async (file: string, text: string): Promise<void> => {
  const folder = dirname(file)
  makeFolders(folder)
  const partial = join(folder, `.${randomUUID()}.tmp`)
  try {
    await writeFile(partial, text, { mode: 0o600, flag: 'wx' })
    await rename(partial, file)
  } finally {
    await rm(partial, { force: true })
  }
}
