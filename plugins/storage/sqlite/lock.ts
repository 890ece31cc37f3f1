import { existsSync } from 'node:fs'
import Sqlite, { type Database } from 'better-sqlite3'
import { isBusy } from './failure.ts'
import { createFile } from './file.ts'
import { Refusal } from './refusal.ts'

/** The process that has a database. */
export interface Holder {
  readonly pid: number
  /** Where its gateway was to answer; empty if nobody said. */
  readonly address: string
}

const written = (lock: Database): Holder | undefined => {
  try {
    return lock.prepare<[], Holder>('select pid, address from holder').get()
  } catch {
    return undefined
  }
}

/** Who has the database `file` for itself; undefined if nobody has, or nobody can tell. */
export const holderOf = (file: string): Holder | undefined => {
  const name = `${file}.lock`
  if (!existsSync(name)) return undefined
  let lock: Database | undefined
  try {
    lock = new Sqlite(name, { timeout: 0 })
    lock.exec('begin immediate; rollback')
    return undefined
  } catch (error) {
    return lock !== undefined && isBusy(error) ? written(lock) : undefined
  } finally {
    lock?.close()
  }
}

const told = (lock: Database): string => {
  const { pid, address } = written(lock) ?? {}
  if (pid === undefined) return 'another gateway'
  return `process ${pid}${address === '' ? '' : ` at ${address}`}`
}

/**
 * Holds `<file>.lock` for this process until the connection that it returns is closed or the process ends, however it ends.
 * The lock is a write transaction that stays open: it excludes every other one, but lets the next comer read who holds it.
 * Throws DATABASE_LOCKED.
 */
export const holdLock = (file: string, address: string): Database => {
  const name = `${file}.lock`
  createFile(name)
  const lock = new Sqlite(name, { timeout: 200 })
  try {
    lock.exec('begin immediate; create table if not exists holder (pid integer, address text); delete from holder')
    lock.prepare('insert into holder values (?, ?)').run(process.pid, address)
    lock.exec('commit; begin immediate')
    return lock
  } catch (error) {
    const busy = isBusy(error)
    const who = busy ? told(lock) : ''
    lock.close()
    if (!busy) throw new Refusal('DATABASE_UNWRITABLE', `The lock file ${name} cannot be used: ${String(error)}.`)
    throw new Refusal(
      'DATABASE_LOCKED',
      `The database ${file} is in use by ${who}. Stop it, or name another file in storage.file.`,
    )
  }
}
