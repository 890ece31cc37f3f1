import { randomUUID } from 'node:crypto'
import { lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeError } from '#lib/errors'
import { makeFolders } from '#lib/private-folders'

/** Writes a file for its owner alone, whole or not at all. Throws USAGE with the reason. */
export const writeFileFor = (file: string, text: string): void => {
  const partial = join(dirname(file), `.${randomUUID()}.tmp`)
  try {
    makeFolders(dirname(file))
    replace(partial, file, text)
  } catch (error) {
    throw writeError(
      file,
      error,
      'A service of yours needs a home that can be written; "--print" shows what would be in the file.',
    )
  }
}

const replace = (partial: string, file: string, text: string): void => {
  try {
    writeFileSync(partial, text, { mode: 0o600, flag: 'wx' })
    renameSync(partial, file)
  } finally {
    rmSync(partial, { force: true })
  }
}

/** The text of a file; undefined if there is none, empty for what cannot be read: a folder, a link that leads nowhere. */
export const textAt = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return isThere(file) ? '' : undefined
  }
}

const isThere = (file: string): boolean => {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}
