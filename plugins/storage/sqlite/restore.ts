import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Database } from 'better-sqlite3'
import Sqlite from 'better-sqlite3'
import { GuardError } from 'guard-gateway/core'
import { databaseErrors, writeError } from '#lib/errors'
import { inspect, SCHEMA_VERSION } from './file/file.ts'
import { holderOf, holdLock } from './file/lock.ts'
import { realPath } from './file/path.ts'
import { Refusal } from './file/refusal.ts'
import { logFiles } from './redo-log/format.ts'
import { refuseWhereOwned } from './redo-log/ownership.ts'
import { isCorruption, isFull } from './sqlite-errors.ts'

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

/** Makes a copied backup what a database is: written to the disk, of its owner alone, who under root is the one of the former database or of its folder. */
const makeOwn = (copy: string, target: string): void => {
  const owner = statSync(existsSync(target) ? target : dirname(target))
  if (process.geteuid?.() === 0) chownSync(`${target}.lock`, owner.uid, owner.gid)
  for (const name of filesOf(copy).filter((one) => existsSync(one))) {
    chmodSync(name, 0o600)
    if (process.geteuid?.() === 0) chownSync(name, owner.uid, owner.gid)
    const handle = openSync(name, 'r+')
    fsyncSync(handle)
    closeSync(handle)
  }
}

/**
 * Puts the copy in the place of the database, whose former files get second names before; what fails is undone.
 * Killed at any time it leaves one of the two at the place: the former one whole, or with two names, which no gateway opens; or the new one whole.
 */
export const exchange = (copy: string, target: string, kept: string | null): void => {
  const former = kept === null ? [] : pairs(target, kept)
  nameTwice(former)
  const [, ...beside] = filesOf(target)
  const clear = () => {
    for (const name of beside) rmSync(name, { force: true })
  }
  try {
    clear()
    // the database itself last: its logs are there when it is
    for (const [from, to] of pairs(copy, target).toReversed()) renameSync(from, to)
  } catch (error) {
    clear()
    giveBack(former)
    throw error
  }
}

/** Gives files second names, all or none. */
const nameTwice = (files: readonly Pair[]): void => {
  try {
    for (const [name, second] of files) linkOrCopy(name, second)
  } catch (error) {
    for (const [, second] of files) rmSync(second, { force: true })
    throw error
  }
}

/** Takes second names away again, and makes them the first where that is gone. */
const giveBack = (files: readonly Pair[]): void => {
  for (const [name, second] of files)
    if (existsSync(name)) rmSync(second)
    else renameSync(second, name)
}

type Pair = readonly [from: string, to: string]

/** The files that are there, each with its name elsewhere. */
const pairs = (from: string, to: string): readonly Pair[] => {
  const names = filesOf(to)
  return filesOf(from)
    .map((name, index): Pair => [name, names[index] as string])
    .filter(([name]) => existsSync(name))
}

/** Gives a file a second name; a copy where the file system has no links. */
const linkOrCopy = (file: string, name: string): void => {
  try {
    linkSync(file, name)
  } catch {
    copyFileSync(file, name, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  }
}

/** The files of a database: itself, its journal, and the redo logs of a process that was killed. */
const filesOf = (file: string): readonly string[] => [file, `${file}-wal`, `${file}-shm`, ...logFiles(file)]

/** Copies a backup with its journal and its redo logs. `copy` is the path of the new database. Throws errors of the file system. */
const copyBackup = (backup: string, copy: string): void => {
  const targets = filesOf(copy)
  for (const [index, name] of filesOf(backup).entries()) {
    // the shared memory of a journal is made anew
    if (name.endsWith('-shm') || !existsSync(name)) continue
    copyFileSync(name, targets[index] as string)
  }
}

/** Reads a copied backup through and brings its journal into it. Throws DATABASE_DAMAGED and DATABASE_NEWER; `name` is what the user called it. */
const checkCopy = (copy: string, name: string): void => {
  let db: Database | undefined
  try {
    if (inspect(copy) === 'new') throw damaged(name, 'is empty')
    db = new Sqlite(copy)
    const version = Number(db.pragma('user_version', { simple: true }))
    if (version > SCHEMA_VERSION) throw newer(name)
    const found = String(db.pragma('integrity_check(1)', { simple: true }))
    if (found !== 'ok') throw damaged(name, `is damaged (${found.split('\n').at(-1)})`)
    db.pragma('wal_checkpoint(truncate)')
  } catch (error) {
    if (error instanceof Refusal)
      throw error.code === 'DATABASE_NEWER' ? newer(name) : damaged(name, reason(error, copy))
    throw isCorruption(error)
      ? damaged(name, `is damaged (${String((error as { readonly code?: unknown }).code)})`)
      : error
  } finally {
    db?.close()
  }
}

/** What the check of a header says of the file. */
const reason = ({ message }: Refusal, copy: string): string =>
  message.split(`${copy} `).at(1)?.split('. It was not touched').at(0) ?? message

const damaged = (name: string, what: string): GuardError =>
  new GuardError(
    databaseErrors.DATABASE_DAMAGED,
    `The backup ${name} ${what}. Nothing was changed; restore another backup.`,
  )

const newer = (name: string): GuardError =>
  new GuardError(
    databaseErrors.DATABASE_NEWER,
    `The backup ${name} was written by a newer version than this one, which reads format ${SCHEMA_VERSION}. Nothing was changed; install that version, or restore an older backup.`,
  )
