import { existsSync } from 'node:fs'
import Sqlite, { type Database } from 'better-sqlite3'
import { Ownership, refuseWhereOwned } from '../ahead/ownership.ts'
import { hasLogs, type Place, takePlace } from '../ahead/place.ts'
import { isDamage } from '../failure.ts'
import { APPLICATION_ID, createFile, damaged, inspect, isLarge, newer, SCHEMA_VERSION, unopened } from '../file/file.ts'
import { holderOf, holdLock } from '../file/lock.ts'
import { refuseSecondNames } from '../file/name.ts'
import { Refusal } from '../file/refusal.ts'
import type { Start } from '../protocol.ts'
import { migrate } from './migrate.ts'
import { applySettings } from './settings.ts'

const number = (db: Database, pragma: string): number => Number(db.pragma(pragma, { simple: true }))

/** Reads through an existing file on a connection that cannot write. Throws DATABASE_DAMAGED or DATABASE_NEWER. */
const checkContents = (start: Start): void => {
  const { file } = start
  let db: Database | undefined
  try {
    db = new Sqlite(file, { readonly: true })
    if (number(db, 'user_version') > SCHEMA_VERSION) throw newer(file, number(db, 'user_version'))
    db.prepare('select count(*) from sqlite_schema').get()
    const found = isLarge(start) ? 'ok' : db.pragma('quick_check(1)', { simple: true })
    if (found !== 'ok') throw damaged(file, `is damaged (${String(found)})`)
  } catch (error) {
    const code = String((error as { code?: unknown }).code)
    if (error instanceof Refusal) throw error
    // a first start that was killed left its journal: opening for writing takes it back
    if (code.startsWith('SQLITE_READONLY') || code.startsWith('SQLITE_BUSY')) return
    throw isDamage(error) ? damaged(file, `is damaged (${code})`) : unopened(file, error)
  } finally {
    db?.close()
  }
}

/** Writes what marks a file as ours, before anything else is in it. */
const initialise = (db: Database): void => {
  db.pragma('auto_vacuum = INCREMENTAL')
  db.exec(`begin immediate; pragma application_id = ${APPLICATION_ID}; pragma user_version = ${SCHEMA_VERSION}; commit`)
}

/** Writes what a process has left that was killed; nothing if one has the file. */
const takeLeft = async (db: Database, start: Start): Promise<undefined> => {
  if (!hasLogs(start.file) || holderOf(start.file) !== undefined) return
  const lock = lockIfFree(start.file)
  try {
    if (lock === undefined) return
    await refuseWhereOwned(db, start.file)
    const { database } = await takePlace(db, start)
    new Ownership(db, start.file, database).release()
  } catch (error) {
    // whoever has it writes what is left
    if (!isLocked(error)) throw error
  } finally {
    lock?.close()
  }
}

const lockIfFree = (file: string): ReturnType<typeof holdLock> | undefined => {
  try {
    return holdLock(file)
  } catch (error) {
    if (isLocked(error)) return undefined
    throw error
  }
}

const isLocked = (error: unknown): boolean => error instanceof Refusal && error.code === 'DATABASE_LOCKED'

/** A thread that takes the place of another one has the database already. */
const refuseOthers = async (db: Database, { file, exclusive, resumes }: Start): Promise<void> => {
  if (exclusive && resumes === undefined) await refuseWhereOwned(db, file)
}

export interface Opened {
  readonly db: Database
  /** Undefined where others may write to the file as well. */
  readonly place: Place | undefined
  /** There with a place. */
  readonly ownership: Ownership | undefined
  close(): void
}

/**
 * Opens the file, after looking whether it may be: first its header, then the lock, then its contents, and only then for writing.
 * Throws Refusal; a file that is refused was not changed.
 */
export const openDatabase = async (start: Start): Promise<Opened> => {
  const { file } = start
  const existed = existsSync(file)
  createFile(file)
  if (start.exclusive) refuseSecondNames(file)
  const kind = existed ? inspect(file) : 'new'
  const lock = start.exclusive ? holdLock(file) : undefined
  let db: Database | undefined
  try {
    if (kind === 'ours') checkContents(start)
    db = new Sqlite(file, { timeout: start.busy_ms })
    await refuseOthers(db, start)
    if (number(db, 'page_count') === 0) initialise(db)
    if (number(db, 'auto_vacuum') !== 2)
      throw damaged(file, 'was not made by this program: auto_vacuum is not incremental')
    applySettings(db, start)
    await migrate(db, start)
    const place = start.exclusive ? await takePlace(db, start) : await takeLeft(db, start)
    lock?.note()
    const ownership = place && new Ownership(db, file, place.database)
    return {
      db,
      place,
      ownership,
      close: () => {
        db?.close()
        lock?.close()
      },
    }
  } catch (error) {
    db?.close()
    lock?.close()
    throw error instanceof Refusal ? error : unopened(file, error)
  }
}
