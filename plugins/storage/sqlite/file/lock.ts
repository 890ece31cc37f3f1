import { existsSync } from 'node:fs'
import Sqlite, { type Database } from 'better-sqlite3'
import { isBusy } from '../sqlite-errors.ts'
import { createFile } from './file.ts'
import { forgetHolder, type Holder, notedHolder, noteHolder } from './holder.ts'
import { Refusal } from './refusal.ts'

const lockPath = (file: string): string => `${file}.lock`

/** Opens a lock file, which is an SQLite database. Nothing is written to it, so it needs no journal. */
const openLock = (name: string, timeout: number): Database => {
  const lock = new Sqlite(name, { timeout })
  lock.pragma('journal_mode = memory')
  return lock
}

/** The process that has locked the database `file`; undefined if no process has, or its note is missing. */
export const holderOf = (file: string): Holder | undefined => {
  const name = lockPath(file)
  if (!existsSync(name)) return undefined
  let lock: Database | undefined
  try {
    lock = openLock(name, 0)
    lock.exec('begin immediate; rollback')
    return undefined
  } catch (error) {
    return lock !== undefined && isBusy(error) ? notedHolder(file) : undefined
  } finally {
    lock?.close()
  }
}

/** The refusal for a locked database. It names the process and its address, as far as they were noted. */
export const lockedBy = (file: string, pid = notedHolder(file)?.pid): Refusal => {
  const noted = notedHolder(file)
  const address = noted?.pid === pid ? (noted?.address ?? '') : ''
  const who = pid === undefined ? 'another gateway' : `process ${pid}${address === '' ? '' : ` at ${address}`}`
  return new Refusal(
    'DATABASE_LOCKED',
    `The database ${file} is in use by ${who}. Stop it, or name another file in storage.file.`,
  )
}

/** A lock that is held. */
export interface Lock {
  /** Notes that this process has the database; called when it is open. */
  note(): void
  close(): void
}

/**
 * Locks `<file>.lock` for this process until the lock is closed or the process ends, however it ends.
 * The lock is a write transaction that stays open.
 * Throws DATABASE_LOCKED, and DATABASE_UNWRITABLE if the lock file cannot be used.
 */
export const holdLock = (file: string): Lock => {
  const name = lockPath(file)
  createFile(name)
  let lock: Database | undefined
  try {
    lock = openLock(name, 200)
    lock.exec('begin immediate')
  } catch (error) {
    lock?.close()
    if (isBusy(error)) throw lockedBy(file)
    throw new Refusal('DATABASE_UNWRITABLE', `The lock file ${name} cannot be used: ${String(error)}.`)
  }
  const held = lock
  let isNoted = false
  return {
    note: () => {
      // a worker that replaces a dead one finds the note of its own process, with the address
      if (notedHolder(file)?.pid !== process.pid) noteHolder(file, '')
      isNoted = true
    },
    close: () => {
      if (isNoted && notedHolder(file)?.pid === process.pid) forgetHolder(file)
      held.close()
    },
  }
}
