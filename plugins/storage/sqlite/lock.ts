import Sqlite, { type Database } from 'better-sqlite3'
import { createFile } from './file.ts'
import { Refusal } from './refusal.ts'

const holder = (lock: Database): string => {
  try {
    const row = lock.prepare('select pid, address from holder').get() as { pid: number; address: string } | undefined
    return row === undefined ? 'another gateway' : `process ${row.pid}${row.address === '' ? '' : ` at ${row.address}`}`
  } catch {
    return 'another gateway'
  }
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
    const busy = (error as { code?: string }).code === 'SQLITE_BUSY'
    const who = busy ? holder(lock) : ''
    lock.close()
    if (!busy) throw new Refusal('DATABASE_UNWRITABLE', `The lock file ${name} cannot be used: ${String(error)}.`)
    throw new Refusal(
      'DATABASE_LOCKED',
      `The database ${file} is in use by ${who}. Stop it, or name another file in storage.file.`,
    )
  }
}
