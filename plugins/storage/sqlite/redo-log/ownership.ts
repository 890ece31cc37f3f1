import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Database, Statement } from 'better-sqlite3'
import { lockedBy } from '../file/lock.ts'
import { fileId, livenessOf, type ProcessIdentity, thisProcess } from '../file/process-identity.ts'

/** How often the owner of a database checks for claims of other processes, in milliseconds. */
export const CLAIM_POLL_MS = 1_000
/** How long a process that claims a database waits for its owner to answer, in milliseconds. */
const CLAIM_TIMEOUT_MS = 2.5 * CLAIM_POLL_MS
const POLL_MS = 50

const TABLES = `
  create table if not exists guard_owner (database text primary key, owner text not null);
  create table if not exists guard_claim (id text primary key)`

/** Another process has taken over the database; only that process may write to it now. */
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

/** The process that recorded itself as the owner of the database; a process that was killed leaves its record. Undefined without a record. */
const ownerOf = (db: Database, file: string): ProcessIdentity | undefined => {
  if (!hasTable(db)) return undefined
  const stored = db
    .prepare('select owner from guard_owner where database = (select database from guard_place)')
    .pluck()
    .get()
  if (typeof stored !== 'string') return undefined
  const owner = JSON.parse(stored) as ProcessIdentity
  return owner.node === fileId(file) ? owner : undefined
}

/**
 * Throws DATABASE_LOCKED if a running process owns the database, whatever the lock file says: a lock that was removed by hand
 * keeps nobody out. An owner of another container or machine cannot be looked up, so a claim asks it to answer.
 */
export const refuseWhereOwned = async (db: Database, file: string): Promise<void> => {
  const owner = ownerOf(db, file)
  if (owner === undefined) return
  const life = livenessOf(owner, thisProcess(file))
  if (life === 'alive' || (life === 'unknown' && (await isClaimAnswered(db)))) throw lockedBy(file, owner.pid)
}

/** Puts a claim into the database. True if its owner deletes the claim before the timeout. */
const isClaimAnswered = async (db: Database): Promise<boolean> => {
  const id = randomUUID()
  const find = db.prepare('select 1 from guard_claim where id = ?')
  db.prepare('insert into guard_claim values (?)').run(id)
  for (let waited = 0; waited < CLAIM_TIMEOUT_MS; waited += POLL_MS) {
    await setTimeout(POLL_MS)
    if (find.get(id) === undefined) return true
  }
  db.prepare('delete from guard_claim where id = ?').run(id)
  return false
}

/** Records this process as the owner, in the transaction that takes the database. Throws DATABASE_LOCKED if another process was faster. */
export const takeOwnership = (db: Database, file: string, database: string): void => {
  const owner = ownerOf(db, file)
  if (owner !== undefined && livenessOf(owner, thisProcess(file)) === 'alive') throw lockedBy(file, owner.pid)
  recordOwnership(db, file, database)
}

/** Records this process as the owner, and deletes earlier owners and claims. */
export const recordOwnership = (db: Database, file: string, database: string): void => {
  db.exec(TABLES)
  db.exec('delete from guard_owner; delete from guard_claim')
  db.prepare('insert into guard_owner values (?, ?)').run(database, JSON.stringify(thisProcess(file)))
}

/** This process's ownership of a database, checked again and again. */
export class Ownership {
  readonly #db: Database
  readonly #file: string
  readonly #database: string
  readonly #isCurrent: Statement
  readonly #dataVersion: Statement
  readonly #clearClaims: Statement
  #version_seen: unknown

  constructor(db: Database, file: string, database: string) {
    db.exec(TABLES)
    this.#db = db
    this.#file = file
    this.#database = database
    this.#isCurrent = db.prepare('select 1 from guard_place where database = ?').pluck()
    this.#dataVersion = db.prepare('pragma data_version').pluck()
    this.#clearClaims = db.prepare('delete from guard_claim')
  }

  /** Called in each transaction that writes. Throws Superseded. */
  confirm(): void {
    if (this.#isCurrent.get(this.#database) === undefined) throw new Superseded(this.#file)
  }

  /** Deletes the claims of other processes, which tells them that the database is taken. Does nothing unless another connection has written. Throws Superseded, and errors of SQLite. */
  answerClaims(): void {
    const version = this.#dataVersion.get()
    if (version === this.#version_seen) return
    this.confirm()
    this.#clearClaims.run()
    this.#version_seen = version
  }

  /** Gives the database up, so that any process may take it. */
  release(): void {
    this.#db.prepare('delete from guard_owner where database = ?').run(this.#database)
  }
}
