import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Refusal } from './refusal.ts'

/** The path of a database without symbolic links, so that all processes find the same lock, journal and logs. Unchanged if its folder is missing. */
export const realPath = (file: string): string => {
  try {
    return existsSync(file) ? realpathSync(file) : join(realpathSync(dirname(file)), basename(file))
  } catch {
    return file
  }
}

/** Throws DATABASE_UNWRITABLE for a folder, and for a file with hard links: SQLite has a journal and locks for each name, and two processes that use two names damage the file. */
export const refuseUnusable = (file: string): void => {
  const found = statSync(file)
  if (found.isDirectory())
    throw new Refusal('DATABASE_UNWRITABLE', `The database ${file} is a folder. Name a file in it in storage.file.`)
  const { nlink } = found
  if (nlink <= 1) return
  throw new Refusal(
    'DATABASE_UNWRITABLE',
    `The database ${file} has ${nlink} names (hard links), and whoever opens it by another one would damage it. Remove the others (find them with: find / -xdev -samefile ${file}), or copy the file and name the copy in storage.file.`,
  )
}
