import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Database, Statement } from 'better-sqlite3'
import { lockedBy } from '../file/lock.ts'
import { lifeOf, nodeOf, type Owner, thisProcess } from '../file/owner.ts'

/** How often who has a database looks whether somebody asks for it. */
export const ANSWER_MS = 500
/** How long who asks waits for an answer. */
const PATIENCE_MS = 4 * ANSWER_MS
const STEP_MS = 50

const TABLES = `
  create table if not exists guard_owner (database text primary key, owner text not null);
  create table if not exists guard_claim (id text primary key)`

/** Another process has taken the database: whatever is written to it now is that one's. */
export class Superseded extends Error {
  override readonly name = 'Superseded'
  readonly code = 'SQLITE_READONLY_SUPERSEDED'

  constructor(file: string) {
    super(
      `Another gateway has taken the database ${file}, whose lock was removed. This one writes nothing to it any more: stop it, or name another file in storage.file.`,
    )
  }
}

const hasTable = (db: Database): boolean =>
  db.prepare("select 1 from sqlite_schema where type = 'table' and name = 'guard_owner'").get() !== undefined

/** The process that has the database by its own account, which a process that was killed leaves behind; undefined if none has. */
const ownerOf = (db: Database, file: string): Owner | undefined => {
  if (!hasTable(db)) return undefined
  const noted = db
    .prepare('select owner from guard_owner where database = (select database from guard_place)')
    .pluck()
    .get()
  if (typeof noted !== 'string') return undefined
  const owner = JSON.parse(noted) as Owner
  return owner.node === nodeOf(file) ? owner : undefined
}

/**
 * Resolves when nobody is at work on the database, whatever its lock says: a lock that was removed by hand keeps nobody out.
 * Throws DATABASE_LOCKED. Where a process cannot be looked for, since it is of another container or machine, it is asked.
 */
export const refuseWhereOwned = async (db: Database, file: string): Promise<void> => {
  const owner = ownerOf(db, file)
  if (owner === undefined) return
  const life = lifeOf(owner, thisProcess(file))
  if (life === 'alive' || (life === 'unknown' && (await isAnswered(db)))) throw lockedBy(file, owner.pid)
}

/** Whether who has the database takes a claim away before patience ends. */
const isAnswered = async (db: Database): Promise<boolean> => {
  const id = randomUUID()
  const find = db.prepare('select 1 from guard_claim where id = ?')
  db.prepare('insert into guard_claim values (?)').run(id)
  for (let waited = 0; waited < PATIENCE_MS; waited += STEP_MS) {
    await setTimeout(STEP_MS)
    if (find.get(id) === undefined) return true
  }
  db.prepare('delete from guard_claim where id = ?').run(id)
  return false
}

/** Notes in the transaction in which a database is taken that this process has it. Throws DATABASE_LOCKED where another one was quicker. */
export const takeOwnership = (db: Database, file: string, database: string): void => {
  const owner = ownerOf(db, file)
  if (owner !== undefined && lifeOf(owner, thisProcess(file)) === 'alive') throw lockedBy(file, owner.pid)
  noteOwnership(db, file, database)
}

/** Notes that this process has the database, and drops what was noted and asked before. */
export const noteOwnership = (db: Database, file: string, database: string): void => {
  db.exec(TABLES)
  db.exec('delete from guard_owner; delete from guard_claim')
  db.prepare('insert into guard_owner values (?, ?)').run(database, JSON.stringify(thisProcess(file)))
}

/** That a process has a database, as long as it is true. */
export class Ownership {
  readonly #db: Database
  readonly #file: string
  readonly #database: string
  readonly #place: Statement
  readonly #version: Statement
  readonly #claims: Statement
  #seen: unknown

  constructor(db: Database, file: string, database: string) {
    db.exec(TABLES)
    this.#db = db
    this.#file = file
    this.#database = database
    this.#place = db.prepare('select 1 from guard_place where database = ?').pluck()
    this.#version = db.prepare('pragma data_version').pluck()
    this.#claims = db.prepare('delete from guard_claim')
  }

  /** Called within each transaction that writes. Throws Superseded. */
  confirm(): void {
    if (this.#place.get(this.#database) === undefined) throw new Superseded(this.#file)
  }

  /** Tells who asks for the database that it is taken; looks only where others have written. Throws Superseded, and what SQLite throws. */
  answer(): void {
    const version = this.#version.get()
    if (version === this.#seen) return
    this.confirm()
    this.#claims.run()
    this.#seen = version
  }

  /** The database may be had by anybody. */
  release(): void {
    this.#db.prepare('delete from guard_owner where database = ?').run(this.#database)
  }
}
