import { existsSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import Sqlite, { type Database } from 'better-sqlite3'
import { GuardError } from 'guard-gateway/core'
import { databaseErrors, writeError } from 'guard-gateway/lib/errors'
import { holdLock } from '../file/lock.ts'
import { realPath } from '../file/path.ts'
import { Refusal } from '../file/refusal.ts'
import { refuseWhereOwned } from '../redo-log/ownership.ts'
import { isFull } from '../sqlite-errors.ts'
import { checkCopy, copyBackup, filesOf } from './backup-files.ts'

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
  const lock = locked(target)
  try {
    await refuseUsed(target)
    const folder = writing(target, () => mkdtempSync(join(dirname(target), '.guard-restore-')))
    try {
      const copy = join(folder, basename(target))
      writing(target, () => copyBackup(source, copy))
      checked(copy, backup, target)
      const kept = filesOf(target).some((name) => existsSync(name)) ? keptName(target, now) : null
      writing(target, () => exchange(copy, target, kept))
      return { file: target, kept, bytes: statSync(target).size }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  } finally {
    lock.close()
  }
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

/** Moves the former files away and the new ones in their place; what fails is undone. */
const exchange = (copy: string, target: string, kept: string | null): void => {
  const done: Move[] = []
  try {
    for (const [from, to] of [...(kept === null ? [] : moves(target, kept)), ...moves(copy, target)]) {
      if (!existsSync(from)) continue
      renameSync(from, to)
      done.push([from, to])
    }
  } catch (error) {
    for (const [from, to] of done.reverse()) renameSync(to, from)
    throw error
  }
}

type Move = readonly [from: string, to: string]

/** The database itself moves last, so that it is never where its journal and its logs are not. */
const moves = (from: string, to: string): readonly Move[] => {
  const names = filesOf(to)
  return filesOf(from)
    .map((name, index): Move => [name, names[index] as string])
    .reverse()
}
