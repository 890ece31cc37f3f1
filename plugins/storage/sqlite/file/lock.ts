import { existsSync } from 'node:fs'
import Sqlite, { type Database } from 'better-sqlite3'
import { isBusy } from '../failure.ts'
import { createFile } from './file.ts'
import { forgetHolder, type Holder, notedHolder, noteHolder } from './holder.ts'
import { Refusal } from './refusal.ts'

const nameOf = (file: string): string => `${file}.lock`

/** A lock file as a database; nothing is written to it, so that it needs no journal beside it. */
const openLock = (name: string, timeout: number): Database => {
  const lock = new Sqlite(name, { timeout })
  lock.pragma('journal_mode = memory')
  return lock
}

/** Who has the database `file` for itself; undefined if nobody has, or nobody can tell. */
export const holderOf = (file: string): Holder | undefined => {
  const name = nameOf(file)
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

/** That a process has the database; which, and where it answers, is what was noted of it. */
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
  /** Notes that this process has the database, which it knows when it is open. */
  note(): void
  close(): void
}

/**
 * Holds `<file>.lock` for this process until what it returns is closed or the process ends, however it ends.
 * The lock is a write transaction that stays open.
 * Throws DATABASE_LOCKED, and DATABASE_UNWRITABLE where the lock file is of no use.
 */
export const holdLock = (file: string): Lock => {
  const name = nameOf(file)
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
      // a thread that takes the place of one that died finds what its process has noted
      if (notedHolder(file)?.pid !== process.pid) noteHolder(file, '')
      isNoted = true
    },
    close: () => {
      if (isNoted && notedHolder(file)?.pid === process.pid) forgetHolder(file)
      held.close()
    },
  }
}
