import { setTimeout as delay } from 'node:timers/promises'
import { type Column, GuardError, type Table } from 'guard-gateway/core'
import { databaseErrors } from '#lib/errors'
import { sha256 } from '#lib/ids'
import { keyOf } from '../kysely/shape.ts'
import type { Connection } from './connection/connection.ts'
import { backoff } from './connection/pool.ts'
import { isConflict, isTimeout, sqlState } from './connection/sql-errors.ts'
import { plain } from './connection/statement.ts'
import { PG_TYPES } from './sql/clauses.ts'

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

/** The tables of the backend itself. Their names stay, so that any version can share the database with another. */
const OWN_TABLES = [
  // one row: whose database this is
  `create table if not exists guard_meta (
    id integer primary key check (id = 1), program text not null, format integer not null, min_format integer not null,
    cluster text not null, made_at timestamptz not null default now()
  )`,
  // a row for each batch whose answer is not yet known to have arrived
  `create table if not exists guard_commits (
    process text collate "C" not null, number bigint not null, fence boolean not null default false,
    at timestamptz not null default now(), primary key (process, number)
  )`,
  // a row for each row that is locked; no transaction leaves one
  `create table if not exists guard_locks (name text collate "C" primary key)`,
] as const

/** The layout of tables that this version writes, and the oldest that can write beside it. */
const FORMAT = 1
const MIN_FORMAT = 1
const PROGRAM = 'guard-gateway'

/** Columns by table, with their types, and the names of the indexes that can be used: what a database has. */
interface Existing {
  readonly tables: ReadonlyMap<string, ReadonlyMap<string, string>>
  readonly indexes: ReadonlySet<string>
  /** Indexes whose making was interrupted, or is under way. */
  readonly invalid: ReadonlySet<string>
  /** Rows by table, about. */
  readonly rows: ReadonlyMap<string, number>
}

/** An index of a table with more rows is made while others write to the table; that takes longer, and cannot be part of a transaction. */
const LARGE = 100_000

const quoted = (name: string): string => `"${name}"`

const columnSql = (name: string, kind: Column): string =>
  // texts are ordered by code points, whatever the language of the database
  `${quoted(name)} ${PG_TYPES[kind]}${PG_TYPES[kind] === 'text' ? ' collate "C"' : ''}`

const tableSql = (table: Table): string => {
  const key = keyOf(table)
  const columns = Object.entries(table.columns).map(
    ([name, kind]) => `${columnSql(name, kind)}${key.includes(name) ? ' not null' : ''}`,
  )
  return `create table if not exists ${quoted(table.id)} ("recorded" bigint generated by default as identity primary key, ${columns.join(', ')})`
}

const indexSql = ({ name, table, columns, use }: Index, isLarge: boolean): string => {
  const unique = use === 'unique' ? 'unique ' : ''
  const beside = isLarge ? 'concurrently ' : ''
  const names = columns.map(quoted)
  const list = use === 'ordered' || use === 'sparse' ? [...names, '"recorded"'] : names
  const where = use === 'sparse' ? ` where ${names[0]} is not null` : ''
  const using = use === 'search' ? ' using gin' : ''
  // new tokens gather in a list that every search reads through, until it has so many kilobytes
  const settings = use === 'search' ? ' with (gin_pending_list_limit = 256)' : ''
  return `create ${unique}index ${beside}if not exists ${quoted(name)} on ${quoted(table)}${using} (${list.join(', ')})${settings}${where}`
}

/** The statements that add what is missing, in order. Nothing is changed or dropped, so an older process may run beside. */
const missingSql = (tables: readonly Table[], existing: Existing): readonly string[] =>
  tables.flatMap((table) => {
    const has = existing.tables.get(table.id)
    const isLarge = (existing.rows.get(table.id) ?? 0) > LARGE
    const columns = Object.entries(table.columns)
      .filter(([name]) => has?.has(name) === false)
      .map(([name, kind]) => `alter table ${quoted(table.id)} add column if not exists ${columnSql(name, kind)}`)
    const indexes = indexesOf(table)
      .filter(({ name }) => !existing.indexes.has(name) && !existing.invalid.has(name))
      .map((index) => indexSql(index, isLarge))
    return [...(has === undefined ? [tableSql(table)] : columns), ...indexes]
  })

/** Says which existing column has another type than declared; undefined if none has. */
const conflict = (tables: readonly Table[], existing: Existing): string | undefined => {
  for (const table of tables) {
    const has = existing.tables.get(table.id)
    if (has === undefined) continue
    if (!has.has('recorded')) return `table ${table.id} has no column "recorded"`
    for (const [name, kind] of Object.entries(table.columns)) {
      const type = has.get(name)
      if (type !== undefined && type !== PG_TYPES[kind])
        return `column ${table.id}.${name} is ${type} there and ${PG_TYPES[kind]} here`
    }
  }
  return undefined
}

/** The most bytes of a name; a longer one is cut by the server without a word. */
const MAX_BYTES = 63

interface Index {
  readonly table: string
  readonly name: string
  readonly columns: readonly string[]
  readonly use: 'ordered' | 'sparse' | 'unique' | 'search'
}

/** What the name of an index says of its use. */
const MARKS = { ordered: 'i', sparse: 's', unique: 'u', search: 't' } as const

const nameOf = (table: string, use: Index['use'], columns: readonly string[]): string => {
  const whole = `${table}__${MARKS[use]}__${columns.join('__')}`
  return whole.length <= MAX_BYTES ? whole : `${whole.slice(0, MAX_BYTES - 13)}_${sha256(whole).slice(0, 12)}`
}

/** The indexes of a table. Those that order rows end in `recorded`, so that ties need no sorting. */
const indexesOf = (table: Table): readonly Index[] => {
  const of = (use: Index['use']) => (given: readonly string[]) => {
    const columns = given.filter((name) => name !== 'recorded')
    return { table: table.id, name: nameOf(table.id, use, columns), columns, use }
  }
  const search = Object.keys(table.columns).filter((name) => table.columns[name] === 'search')
  const all = [
    of('unique')(keyOf(table)),
    ...(table.unique ?? []).map(of('unique')),
    ...(table.sparse ?? []).map(of('sparse')),
    ...(table.indexes ?? []).map(of('ordered')).filter(({ columns }) => columns.length > 0),
    ...search.map((name) => of('search')([name])),
  ]
  return [...new Map(all.map((index) => [index.name, index])).values()]
}
