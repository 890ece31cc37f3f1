import { accessSync, constants, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import Sqlite, { type Database } from 'better-sqlite3'
import { GuardError } from 'guard-gateway/core'
import { databaseErrors, writeError } from 'guard-gateway/lib/errors'
import { holderOf, holdLock } from '../file/lock.ts'
import { realPath } from '../file/path.ts'
import { Refusal } from '../file/refusal.ts'
import { refuseWhereOwned } from '../redo-log/ownership.ts'
import { isFull } from '../sqlite-errors.ts'
import { checkCopy, copyBackup, filesOf } from './backup-files.ts'
import { exchange, makeOwn } from './exchange.ts'

export interface Restored {
  /** The database that was put in place. */
  readonly file: string
  /** Where the former one is now; null if there was none. */
  readonly kept: string | null
  readonly bytes: number
}

export interface RestoreOptions {
  /** Path of the backup as the user wrote it. */
  readonly backup: string
  readonly file: string
  readonly cwd: string
  readonly now: Date
}

/**
 * Puts a backup in the place of the database, and keeps the former one under another name. The backup itself is only read.
 * Throws USAGE, and DATABASE_LOCKED where a gateway uses the database; then, and after every other error, the database is what it was.
 */
export const restore = async ({ backup, file, cwd, now }: RestoreOptions): Promise<Restored> => {
  const [source, target] = [resolve(cwd, backup), realPath(resolve(cwd, file))]
  if (!statSync(source, { throwIfNoEntry: false })?.isFile())
    throw new GuardError('USAGE', `There is no backup ${backup}. "guard storage backup <file>" writes one.`)
  if (existsSync(target) && realPath(source) === target)
    throw new GuardError('USAGE', `${backup} is the database itself. Name a copy of it.`)
  refuseUnreadable(source, backup)
  const lock = locked(target)
  try {
    await refuseUsed(target)
    const folder = writing(target, () => emptyFolder(target))
    try {
      const copy = join(folder, basename(target))
      writing(target, () => copyBackup(source, copy))
      checked(copy, backup, target)
      const kept = filesOf(target).some((name) => existsSync(name)) ? keptName(target, now) : null
      writing(target, () => {
        makeOwn(copy, target)
        exchange(copy, target, kept)
      })
      return { file: target, kept, bytes: statSync(target).size }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  } finally {
    lock.close()
  }
}

/** Throws USAGE for a backup that may not be read, or that a gateway writes to: copies of it may be of no one moment. */
const refuseUnreadable = (source: string, backup: string): void => {
  try {
    accessSync(source, constants.R_OK)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new GuardError('USAGE', `The backup ${backup} may not be read (${code}). Nothing was changed.`, { cause })
  }
  if (holderOf(source) !== undefined)
    throw new GuardError(
      'USAGE',
      `${backup} is the database of a gateway that runs. Nothing was changed; make a backup of it with "guard storage backup", and restore that.`,
    )
}

/** A folder for the copy beside the database, in place of those that killed commands have left: the lock is held. */
const emptyFolder = (target: string): string => {
  const start = `.${basename(target)}-restore-`
  for (const name of readdirSync(dirname(target)))
    if (name.startsWith(start)) rmSync(join(dirname(target), name), { recursive: true, force: true })
  return mkdtempSync(join(dirname(target), start))
}

/** A refusal of a database file as an error of the command line. */
const asGuardError = (error: unknown): unknown =>
  error instanceof Refusal ? new GuardError(databaseErrors[error.code], error.message, { cause: error }) : error

const locked = (target: string): ReturnType<typeof holdLock> => {
  try {
    return holdLock(target)
  } catch (error) {
    throw asGuardError(error)
  }
}

/** Throws DATABASE_LOCKED where a process owns the database although its lock was removed. A damaged database has no owner. */
const refuseUsed = async (file: string): Promise<void> => {
  if (!existsSync(file)) return
  let db: Database | undefined
  try {
    db = new Sqlite(file, { timeout: 1_000 })
    await refuseWhereOwned(db, file)
  } catch (error) {
    if (error instanceof Refusal) throw asGuardError(error)
  } finally {
    db?.close()
  }
}

const checked = (copy: string, backup: string, target: string): void => {
  try {
    checkCopy(copy, backup)
  } catch (error) {
    throw isFull(error) ? writeError(target, { code: 'ENOSPC' }, FREE) : error
  }
}

/** Throws USAGE for what the file system refuses. */
const writing = <T>(target: string, work: () => T): T => {
  try {
    return work()
  } catch (error) {
    throw writeError(target, error, FREE)
  }
}

const FREE = 'Nothing was changed; free space or change the rights of its folder, and restore again.'

const keptName = (target: string, now: Date): string =>
  `${target}.before-restore-${now.toISOString().replace(/[:.]/g, '-')}`
