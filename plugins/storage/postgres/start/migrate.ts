import { setTimeout as delay } from 'node:timers/promises'
import { GuardError, type Table } from 'guard-gateway/core'
import { databaseErrors } from 'guard-gateway/lib/errors'
import { backoff } from '../connection/backoff.ts'
import type { Connection } from '../connection/connection.ts'
import { isConflict, isTimeout, sqlState } from '../connection/sql-errors.ts'
import { plain } from '../connection/statement.ts'
import { conflict, type Existing, missingSql } from './ddl.ts'
import { FORMAT, MIN_FORMAT, OWN_TABLES, PROGRAM } from './own-tables.ts'

export interface MigrateOptions {
  readonly tables: readonly Table[]
  /** Take an advisory lock, so that processes that start at once do not meet. */
  readonly advisory_locks: boolean
  /** The gateways that the database is for; empty: whoever names it. */
  readonly cluster: string
  /** Where the database is, for messages. */
  readonly described: string
}

/** The advisory lock of those that add tables: "guard" in ASCII. */
const LOCK = '444234756708'
const MAX_TRIES = 20

const rowsOf = async (connection: Connection, sql: string) => (await connection.run([plain(sql)]))[0]?.rows ?? []

const existing = async (connection: Connection): Promise<Existing> => {
  const columns = await rowsOf(
    connection,
    `select c.relname, a.attname, format_type(a.atttypid, null), c.reltuples::bigint from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = current_schema() and c.relkind in ('r', 'p', 'v', 'm', 'f')`,
  )
  const indexes = await rowsOf(
    connection,
    `select c.relname, i.indisvalid from pg_index i join pg_class c on c.oid = i.indexrelid
     join pg_namespace n on n.oid = c.relnamespace where n.nspname = current_schema()`,
  )
  const tables = new Map<string, Map<string, string>>()
  const rows = new Map<string, number>()
  for (const [table, column, type, count] of columns) {
    const known = tables.get(String(table)) ?? new Map<string, string>()
    tables.set(String(table), known.set(String(column), String(type)))
    rows.set(String(table), Number(count))
  }
  const names = (valid: string) => new Set(indexes.filter((row) => row[1] === valid).map(([name]) => String(name)))
  return { tables, rows, indexes: names('t'), invalid: names('f') }
}

/** Another process added the same thing at the same moment: "if not exists" looks before, and the catalogue's unique index refuses. */
const isRace = (error: unknown): boolean =>
  /^(23505|42P07|42710|42701|XX000)$/.test(sqlState(error) ?? '') || isConflict(error) || isTimeout(error)

const add = async (connection: Connection, statement: string): Promise<void> => {
  for (let tries = 0; ; tries++) {
    try {
      await connection.run([plain(statement)])
      return
    } catch (error) {
      if (!isRace(error) || tries === MAX_TRIES) throw error
      await delay(backoff(Math.min(tries, 3)))
    }
  }
}

const foreign = (described: string, what: string): GuardError =>
  new GuardError(
    databaseErrors.DATABASE_DAMAGED,
    `The database ${described} is not one of this gateway: ${what}. It was not changed. Name another database, or a schema of its own (?options=-csearch_path%3Dguard), in storage.url.`,
  )

type Named = Pick<MigrateOptions, 'cluster' | 'described'>

/** Throws DATABASE_NEWER, DATABASE_DAMAGED or INVALID_CONFIG for a database that this gateway must not write to. */
const checkMeta = async (connection: Connection, { cluster, described }: Named): Promise<void> => {
  const [row] = await rowsOf(connection, 'select program, format, min_format, cluster from guard_meta where id = 1')
  if (row === undefined) return
  const [program, format, oldest, owner] = row
  if (program !== PROGRAM) throw foreign(described, `its guard_meta names the program "${program}"`)
  if (Number(oldest) > FORMAT)
    throw new GuardError(
      databaseErrors.DATABASE_NEWER,
      `The database ${described} was written by a newer version: it has format ${format}, which versions of format ${oldest} and later may write, and this one has ${FORMAT}. Nothing was changed. Update this gateway.`,
    )
  if (cluster !== '' && owner !== '' && owner !== cluster)
    throw new GuardError(
      'INVALID_CONFIG',
      `The database ${described} belongs to the gateways of "${owner}", and storage.cluster is "${cluster}". Nothing was changed. Correct storage.url, or storage.cluster if these are the same gateways.`,
    )
}

/** Names whose database it is, if nobody has yet. */
const CLAIM = "update guard_meta set cluster = $1 where id = 1 and cluster = ''"

const META = `insert into guard_meta (id, program, format, min_format, cluster) values (1, $1, $2, $3, $4)
  on conflict (id) do update set format = greatest(guard_meta.format, excluded.format), min_format = greatest(guard_meta.min_format, excluded.min_format)
  where guard_meta.format < excluded.format or guard_meta.min_format < excluded.min_format`

const isOurs = (known: Existing): boolean => known.tables.has('guard_meta')

/** Throws where the database is not one that this gateway may change. */
const check = async (connection: Connection, known: Existing, options: MigrateOptions): Promise<void> => {
  const { tables, cluster, described } = options
  if (isOurs(known)) {
    if (known.tables.get('guard_meta')?.has('program') !== true)
      throw foreign(described, 'its table guard_meta has other columns')
    await checkMeta(connection, options)
    if (cluster !== '') await connection.run([plain(CLAIM, cluster)])
  }
  const clash = conflict(tables, known)
  if (clash !== undefined) throw foreign(described, clash)
}

/** Adds missing tables, columns and indexes. Several processes may do so at once. Throws for a database of another program, of other gateways or of a newer version. */
export const migrate = async (connection: Connection, options: MigrateOptions): Promise<void> => {
  const { tables, advisory_locks, cluster } = options
  let known = await existing(connection)
  await check(connection, known, options)
  if (isOurs(known) && missingSql(tables, known).length === 0) return
  if (advisory_locks) await lock(connection)
  try {
    known = await existing(connection)
    for (const statement of OWN_TABLES) await add(connection, statement)
    await connection.run([plain(META, PROGRAM, String(FORMAT), String(MIN_FORMAT), cluster)])
    // another process may have made it at the same moment
    await checkMeta(connection, options)
    for (const statement of missingSql(tables, known)) await add(connection, statement)
  } finally {
    if (advisory_locks && !connection.isBroken) await connection.run([plain(`select pg_advisory_unlock(${LOCK})`)])
  }
}

/** It only saves the processes from meeting; without it they try again. */
const lock = async (connection: Connection): Promise<void> => {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const [row] = await rowsOf(connection, `select pg_try_advisory_lock(${LOCK})`)
    if (row?.[0] === 't') return
    await delay(backoff(1))
  }
}
