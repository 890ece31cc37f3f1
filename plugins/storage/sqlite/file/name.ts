import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Refusal } from './refusal.ts'

/** The name under which all who use a database find its lock, its journal and its logs, whatever links lead to it; as it is where its folder is missing. */
export const realName = (file: string): string => {
  try {
    return existsSync(file) ? realpathSync(file) : join(realpathSync(dirname(file)), basename(file))
  } catch {
    return file
  }
}

/** Throws DATABASE_UNWRITABLE for a file that has several names: SQLite keeps a journal and locks for each of them, and two that are used at once damage it. */
export const refuseSecondNames = (file: string): void => {
  const { nlink } = statSync(file)
  if (nlink <= 1) return
  throw new Refusal(
    'DATABASE_UNWRITABLE',
    `The database ${file} has ${nlink} names (hard links), and whoever opens it by another one would damage it. Remove the others (find them with: find / -xdev -samefile ${file}), or copy the file and name the copy in storage.file.`,
  )
}
