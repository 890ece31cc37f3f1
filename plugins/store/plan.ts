import type { AnySums, Column, Key, Table } from 'guard-gateway/core'
import { GuardError } from 'guard-gateway/core'

/** A column as writes see it; `scrub`: how it is redacted, undefined if it is stored as it is. */
export interface WrittenRow {
  readonly name: string
  readonly kind: Column
  readonly place: number
  readonly scrub: 'text' | 'json' | 'search' | undefined
}

/** A table with what every write and query needs of it, worked out once. */
export interface Plan {
  readonly table: Table
  readonly key: readonly string[]
  readonly columns: ReadonlyMap<string, Column>
  /** The columns in their order. */
  readonly written: readonly WrittenRow[]
  readonly named: ReadonlyMap<string, WrittenRow>
  /** Key columns to redact, by position in the key. */
  readonly scrubbedKey: readonly boolean[]
  readonly search: string | undefined
}

const NAME = /^[a-z][a-z0-9_]{0,62}$/

const wrong = (table: Table, what: string) => new GuardError('UNKNOWN_COLUMN', `Table "${table.id}": ${what}.`)

const checkColumns = ({ id, columns }: Table): void => {
  for (const name of [id, ...Object.keys(columns)]) {
    if (!NAME.test(name))
      throw wrong({ id, columns }, `"${name}" is no name; use lower-case letters, digits and underscores`)
  }
  if (Object.hasOwn(columns, 'recorded'))
    throw wrong({ id, columns }, '"recorded" is kept by the storage and cannot be declared')
  if (Object.values(columns).filter((kind) => kind === 'search').length > 1)
    throw wrong({ id, columns }, 'more than one search column')
}

const checkReferences = (table: Table, key: readonly string[]): void => {
  const { columns, indexes = [], sparse = [], unique = [], repeated = [], exact = [] } = table
  const odd = key.find((name) => columns[name] !== 'text')
  if (odd !== undefined) throw wrong(table, `key column "${odd}" is not a declared text column`)
  const referred = [...indexes.flat(), ...sparse.flat(), ...unique.flat(), ...repeated, ...exact].filter(
    (name) => name !== 'recorded',
  )
  const unknown = referred.find((name) => columns[name] === undefined)
  if (unknown !== undefined) throw wrong(table, `"${unknown}" is not declared`)
  for (const list of [...indexes, ...sparse, ...unique]) checkIndex(table, list)
}

const checkIndex = (table: Table, list: readonly string[]): void => {
  const odd = list.find((name) => table.columns[name] === 'json' || table.columns[name] === 'search')
  if (odd !== undefined) throw wrong(table, `"${odd}" cannot be indexed: it is a ${table.columns[odd]} column`)
  const place = list.indexOf('recorded')
  if (place !== -1 && place !== list.length - 1) throw wrong(table, '"recorded" may only stand last in an index')
}

export const keyOf = (table: Table): readonly string[] => table.key ?? ['id']

/** Checks a table and works out its plan; throws UNKNOWN_COLUMN naming what does not fit. */
export const planOf = (table: Table): Plan => {
  const key = keyOf(table)
  checkColumns(table)
  checkReferences(table, key)
  const columns = new Map(Object.entries(table.columns))
  const exact = new Set(table.exact)
  const written: WrittenRow[] = []
  let search: string | undefined
  for (const [name, kind] of columns) {
    if (kind === 'search') search = name
    const isScrubbed = (kind === 'text' || kind === 'json' || kind === 'search') && !exact.has(name)
    written.push({ name, kind, place: written.length, scrub: isScrubbed ? kind : undefined })
  }
  const named = new Map(written.map((column) => [column.name, column]))
  return { table, key, columns, written, named, scrubbedKey: key.map((name) => !exact.has(name)), search }
}

const unknownColumn = ({ table, columns }: Plan, name: string): GuardError =>
  new GuardError('UNKNOWN_COLUMN', `Table "${table.id}" has no column "${name}".`, { known: [...columns.keys()] })

/** Throws UNKNOWN_COLUMN if a name is not declared. */
export const checkNames = (plan: Plan, row: object): void => {
  for (const name in row) if (!plan.columns.has(name)) throw unknownColumn(plan, name)
}

/** The column of a name; throws UNKNOWN_COLUMN if it is not declared. */
export const writtenColumn = (plan: Plan, name: string): WrittenRow => {
  const found = plan.named.get(name)
  if (found === undefined) throw unknownColumn(plan, name)
  return found
}

/** The key as a list; throws if it has another number of parts than the table's. */
export const keyParts = ({ table, key }: Plan, value: Key): readonly string[] => {
  const parts = typeof value === 'string' ? [value] : value
  if (parts.length !== key.length || parts.some((part) => typeof part !== 'string')) {
    throw new TypeError(
      `A key of table "${table.id}" is ${key.join(', ')}: ${key.length} texts, not ${JSON.stringify(value)}.`,
    )
  }
  return parts
}

/** Throws unless each is a safe integer for an integer column, and there is one. */
export const checkSums = (plan: Plan, sums: AnySums): AnySums => {
  let count = 0
  for (const name in sums) {
    count++
    const { kind } = writtenColumn(plan, name)
    if (kind !== 'integer')
      throw new GuardError(
        'UNKNOWN_COLUMN',
        `"${name}" of table "${plan.table.id}" is a ${kind} column; only integers are added to.`,
      )
    if (!Number.isSafeInteger(sums[name]))
      throw new TypeError(
        `${sums[name]} cannot be added to "${name}" of table "${plan.table.id}": it is no safe integer.`,
      )
  }
  if (count === 0) throw new TypeError(`An add to table "${plan.table.id}" needs a column.`)
  return sums
}
