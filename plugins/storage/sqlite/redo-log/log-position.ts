import { randomUUID } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import type { LogPosition, OpenOptions } from '../protocol.ts'
import { logFiles } from './format.ts'
import { recordOwnership, takeOwnership } from './ownership.ts'

/** The names of these tables are older than the words of this code; they stay so that databases need no migration. */
const TABLES = `
  create table if not exists guard_place (database text not null, applied integer not null);
  create table if not exists guard_left (number integer primary key)`

const positionIn = (db: Database): LogPosition | undefined => {
  const position = db.prepare('select database, applied from guard_place').get() as
    | Omit<LogPosition, 'pending'>
    | undefined
  const pending = db.prepare('select number from guard_left').pluck().all() as number[]
  return position && { ...position, pending: new Set(pending) }
}

/** Whether there are logs beside the database, of a process that runs or of one that died. */
export const hasLogs = (file: string): boolean => logFiles(file).some((name) => existsSync(name))

/**
 * Returns the position of a database that this process has just got for itself. Replays the logs of the previous process first, and
 * starts at batch 0 under a new name. A worker that replaces a dead one of the same process gets the position that it had reached.
 */
export const recoverLog = async (db: Database, options: OpenOptions): Promise<LogPosition> => {
  db.exec(TABLES)
  const found = positionIn(db)
  if (found !== undefined && options.resumes === found.database) {
    recordOwnership(db, options.file, found.database)
    return found
  }
  const replay =
    found !== undefined && hasLogs(options.file) ? (await import('./replay-logs.ts')).replayLogs : undefined
  const position = { database: randomUUID(), applied: 0, pending: new Set<number>() }
  db.transaction(() => {
    // read again in the transaction: another process may have been first
    const before = positionIn(db)
    takeOwnership(db, options.file, position.database)
    if (before !== undefined) replay?.(db, options, before)
    db.exec('delete from guard_place; delete from guard_left')
    db.prepare('insert into guard_place values (?, ?)').run(position.database, position.applied)
  }).immediate()
  for (const name of logFiles(options.file)) rmSync(name, { force: true })
  return position
}
