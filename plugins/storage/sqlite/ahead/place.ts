import { randomUUID } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import type { Start } from '../protocol.ts'
import { logFiles } from './format.ts'
import { noteOwnership, takeOwnership } from './ownership.ts'

/** How far a database is: up to which batch of the process that has it open. */
export interface Place {
  /** New for each process, so that no log is taken for one of another time. */
  readonly database: string
  readonly applied: number
  /** Those up to there that are not written. */
  readonly left: ReadonlySet<number>
}

const TABLES = `
  create table if not exists guard_place (database text not null, applied integer not null);
  create table if not exists guard_left (number integer primary key)`

const placeIn = (db: Database): Place | undefined => {
  const place = db.prepare('select database, applied from guard_place').get() as Omit<Place, 'left'> | undefined
  const left = db.prepare('select number from guard_left').pluck().all() as number[]
  return place && { ...place, left: new Set(left) }
}

/** Whether a process has logs beside the database, or has left some. */
export const hasLogs = (file: string): boolean => logFiles(file).some((name) => existsSync(name))

/** Where the database is; for a process that has just got it for itself, at the beginning, with everything written that the one before has left in its logs. */
export const takePlace = async (db: Database, start: Start): Promise<Place> => {
  db.exec(TABLES)
  const found = placeIn(db)
  if (found !== undefined && start.resumes === found.database) {
    noteOwnership(db, start.file, found.database)
    return found
  }
  const recover = found !== undefined && hasLogs(start.file) ? (await import('./recover.ts')).recover : undefined
  const place = { database: randomUUID(), applied: 0, left: new Set<number>() }
  db.transaction(() => {
    // read anew: another process may have come first
    const before = placeIn(db)
    takeOwnership(db, start.file, place.database)
    if (before !== undefined) recover?.(db, start, before)
    db.exec('delete from guard_place; delete from guard_left')
    db.prepare('insert into guard_place values (?, ?)').run(place.database, place.applied)
  }).immediate()
  for (const name of logFiles(start.file)) rmSync(name, { force: true })
  return place
}
