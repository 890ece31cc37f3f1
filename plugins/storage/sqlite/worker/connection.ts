import { existsSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import Sqlite from 'better-sqlite3'
import { conflict, type Existing, missing } from '../../kysely/schema.ts'
import { RETAINED_BYTES } from '../checkpoints/journal.ts'
import {
  APPLICATION_ID,
  createFile,
  damaged,
  inspect,
  isLarge,
  newer,
  SCHEMA_VERSION,
  unopenable,
} from '../file/file.ts'
import { holderOf, holdLock } from '../file/lock.ts'
import { refuseUnusable } from '../file/path.ts'
import { Refusal } from '../file/refusal.ts'
import type { LogPosition, OpenOptions } from '../protocol.ts'
import { hasLogs, recoverLog } from '../redo-log/log-position.ts'
import { Ownership, refuseWhereOwned } from '../redo-log/ownership.ts'
import { isCorruption } from '../sqlite-errors.ts'

const number = (db: Database, pragma: string): number => Number(db.pragma(pragma, { simple: true }))

/** Checks the contents of an existing file on a read-only connection. Throws DATABASE_DAMAGED or DATABASE_NEWER. */
const checkContents = (options: OpenOptions): void => {
  const { file } = options
  let db: Database | undefined
  try {
    db = new Sqlite(file, { readonly: true })
    if (number(db, 'user_version') > SCHEMA_VERSION) throw newer(file, number(db, 'user_version'))
    db.prepare('select count(*) from sqlite_schema').get()
    const found = isLarge(options) ? 'ok' : db.pragma('quick_check(1)', { simple: true })
    if (found !== 'ok') throw damaged(file, `is damaged (${String(found)})`)
  } catch (error) {
    const code = String((error as { code?: unknown }).code)
    if (error instanceof Refusal) throw error
    // a process that was killed while it created the file left its journal: opening for writing rolls it back
    if (code.startsWith('SQLITE_READONLY') || code.startsWith('SQLITE_BUSY')) return
    throw isCorruption(error) ? damaged(file, `is damaged (${code})`) : unopenable(file, error)
  } finally {
    db?.close()
  }
}

/** Marks an empty file as ours, before anything else is written to it. */
const initialise = (db: Database): void => {
  db.pragma('auto_vacuum = INCREMENTAL')
  db.exec(`begin immediate; pragma application_id = ${APPLICATION_ID}; pragma user_version = ${SCHEMA_VERSION}; commit`)
}

/** Replays the logs of a process that was killed. Does nothing if a running process has the file. */
const recoverAbandonedLog = async (db: Database, options: OpenOptions): Promise<undefined> => {
  if (!hasLogs(options.file) || holderOf(options.file) !== undefined) return
  const lock = lockIfFree(options.file)
  try {
    if (lock === undefined) return
    await refuseWhereOwned(db, options.file)
    const { database } = await recoverLog(db, options)
    new Ownership(db, options.file, database).release()
  } catch (error) {
    // the process that has the database replays them itself
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

/** Throws DATABASE_LOCKED if another process owns the database. A worker that replaces a dead one of this process owns it already. */
const refuseOthers = async (db: Database, { file, exclusive, resumes }: OpenOptions): Promise<void> => {
  if (exclusive && resumes === undefined) await refuseWhereOwned(db, file)
}

/** A connection to a database, with what it takes to write to it. */
export interface Connection {
  readonly db: Database
  /** Undefined if other processes may also write to the file. */
  readonly position: LogPosition | undefined
  /** Present if `position` is. */
  readonly ownership: Ownership | undefined
  close(): void
}

/**
 * Opens the file for writing after all checks: its header, then the lock, then its contents.
 * Throws Refusal. A file that is refused is not changed.
 */
export const openConnection = async (options: OpenOptions): Promise<Connection> => {
  const { file } = options
  const existed = existsSync(file)
  createFile(file)
  if (options.exclusive) refuseUnusable(file)
  const kind = existed ? inspect(file) : 'new'
  const lock = options.exclusive ? holdLock(file) : undefined
  let db: Database | undefined
  try {
    if (kind === 'ours') checkContents(options)
    db = new Sqlite(file, { timeout: options.busy_ms })
    await refuseOthers(db, options)
    if (number(db, 'page_count') === 0) initialise(db)
    if (number(db, 'auto_vacuum') !== 2)
      throw damaged(file, 'was not made by this program: auto_vacuum is not incremental')
    applySettings(db, options)
    await migrate(db, options)
    const position = options.exclusive ? await recoverLog(db, options) : await recoverAbandonedLog(db, options)
    lock?.note()
    const ownership = position && new Ownership(db, file, position.database)
    return {
      db,
      position,
      ownership,
      close: () => {
        db?.close()
        lock?.close()
      },
    }
  } catch (error) {
    db?.close()
    lock?.close()
    throw error instanceof Refusal ? error : unopenable(file, error)
  }
}

const existing = (db: Database): Existing => {
  const rows = db.prepare('select type, name, tbl_name as owner from sqlite_schema').all() as {
    type: string
    name: string
    owner: string
  }[]
  const columns = db.prepare('select name, lower(type) as type from pragma_table_info(?)')
  const columnsOf = (table: string) =>
    new Map((columns.all(table) as { name: string; type: string }[]).map(({ name, type }) => [name, type]))
  return {
    tables: new Map(rows.filter(({ type }) => type === 'table').map(({ name }) => [name, columnsOf(name)])),
    indexes: new Map(rows.filter(({ type }) => type === 'index').map(({ name, owner }) => [name, owner])),
  }
}

/** Adds missing tables, columns and indexes in one transaction. Writes nothing if nothing is missing. Throws DATABASE_DAMAGED if a column has another type. */
const migrate = async (db: Database, { file, tables }: OpenOptions): Promise<void> => {
  const clash = conflict(tables, existing(db))
  if (clash !== undefined) throw damaged(file, `does not fit: ${clash}`)
  if (missing(tables, existing(db)).length === 0) return
  // kysely takes a tenth of a second to load; an ordinary start does not need it
  const [{ additionSql }, { compiler }] = await Promise.all([import('../../kysely/ddl.ts'), import('./compiler.ts')])
  db.transaction(() => {
    // read again in the transaction: another process may have added them meanwhile
    for (const addition of missing(tables, existing(db))) db.exec(additionSql(compiler, addition))
  }).immediate()
}

const CACHE_KIB = 4_096

/** The pragmas of a connection: name, the value that is set, and the value that SQLite must then report. */
const pragmas = ({
  synchronous,
  busy_ms,
}: OpenOptions): readonly (readonly [name: string, set: string, read: string | number])[] => [
  ['busy_timeout', String(busy_ms), busy_ms],
  ['journal_mode', 'WAL', 'wal'],
  ['synchronous', synchronous, synchronous === 'full' ? 2 : 1],
  // when pages move (auto_vacuum), a commit searches the whole cache; the system caches the other pages
  ['cache_size', String(-CACHE_KIB), -CACHE_KIB],
  ['foreign_keys', 'ON', 1],
  ['trusted_schema', 'OFF', 0],
  ['cell_size_check', 'ON', 1],
  // without a memory map an I/O error is an error code, not a signal
  ['mmap_size', '0', 0],
  // FAST leaves what was removed on pages that are free
  ['secure_delete', 'ON', 1],
  ['journal_size_limit', String(RETAINED_BYTES), RETAINED_BYTES],
  // checkpoints run in another thread, not within commits
  ['wal_autocheckpoint', '0', 0],
]

/** Sets every pragma and reads it back. Throws DATABASE_UNWRITABLE, which names the one that SQLite did not accept. */
const applySettings = (db: Database, options: OpenOptions): void => {
  for (const [name, set, read] of pragmas(options)) {
    db.pragma(`${name} = ${set}`)
    const actual = db.pragma(name, { simple: true })
    if (actual !== read) {
      throw new Refusal(
        'DATABASE_UNWRITABLE',
        `The database ${options.file} cannot be run with ${name} = ${set}; it stays ${String(actual)}. A local disk is needed: network file systems lack the locks.`,
      )
    }
  }
  if (options.max_pages > 0) db.pragma(`max_page_count = ${options.max_pages}`)
}
