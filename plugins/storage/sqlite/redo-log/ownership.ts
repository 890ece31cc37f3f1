import { randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import type { Database, Statement } from 'better-sqlite3'
import { lockedBy } from '../file/lock.ts'

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

/** Identifies a process, also after its process id was used again. Stored as JSON in `guard_owner`. */
interface ProcessIdentity {
  readonly pid: number
  readonly host: string
  /** The boot id of the system; null where it has none. */
  readonly boot: string | null
  /** The PID namespace, which containers have of their own; null where the system has no namespaces. */
  readonly space: string | null
  /** The start time of the process, in clock ticks after boot; null where it cannot be read. */
  readonly started: string | null
  /** Device and inode of the file that it owns: a copy of the database has no owner. */
  readonly node: string
}

const textOf = (name: string): string | null => {
  try {
    return readFileSync(name, 'latin1').trim()
  } catch {
    return null
  }
}

const pidNamespace = (): string | null => {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return null
  }
}

/** State and start time of a process on Linux: fields 3 and 22 of `/proc/<pid>/stat`, see proc(5). Field 2, the name, may hold any characters and ends with the last bracket. */
const statOf = (pid: number): { readonly state: string; readonly started: string } | undefined => {
  const text = textOf(`/proc/${pid}/stat`)
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, started] = [fields?.[0], fields?.[19]]
  return state === undefined || started === undefined ? undefined : { state, started }
}

/** Device and inode of a file, as text. */
const fileId = (file: string): string => {
  const { dev, ino } = statSync(file, { bigint: true })
  return `${dev} ${ino}`
}

/** This process as the owner of a file. */
const thisProcess = (file: string): ProcessIdentity => ({
  pid: process.pid,
  host: hostname(),
  boot: textOf('/proc/sys/kernel/random/boot_id'),
  space: pidNamespace(),
  started: statOf(process.pid)?.started ?? null,
  node: fileId(file),
})

/** Whether a process runs. `unknown`: its id means nothing on this system, or another process may have it by now. */
const livenessOf = (owner: ProcessIdentity, me: ProcessIdentity): 'alive' | 'gone' | 'unknown' => {
  if (owner.host === me.host && owner.boot !== me.boot) return 'gone'
  if (owner.boot !== me.boot || owner.space !== me.space) return 'unknown'
  // without boot ids and namespaces only the host names can differ
  if (me.boot === null && owner.host !== me.host) return 'unknown'
  if (owner.started !== null) {
    const stat = statOf(owner.pid)
    return stat !== undefined && stat.started === owner.started && !'ZX'.includes(stat.state) ? 'alive' : 'gone'
  }
  if (owner.pid === me.pid) return 'alive'
  return exists(owner.pid) ? 'unknown' : 'gone'
}

const exists = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
