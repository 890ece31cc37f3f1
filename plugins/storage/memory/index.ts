import {
  type AnyRow,
  type AnyWhere,
  type Column,
  type Driver,
  type DriverChange,
  type DriverPage,
  type DriverQuery,
  type DriverSum,
  type Group,
  type Order,
  type Position,
  type RowTokens,
  storage,
  type Table,
} from 'guard-gateway/core'
import { readJson, writeJson } from '#lib/json'

const open = (tables: readonly Table[]): Driver => {
  const all = new Map(tables.map((table) => [table.id, new Rows(table)]))
  const of = (table: Table): Rows => {
    const rows = all.get(table.id)
    if (rows === undefined) throw new TypeError(`table "${table.id}" was not there when the storage was opened`)
    return rows
  }
  const write = (batch: readonly DriverChange[]): boolean => {
    const undos: (() => void)[] = []
    for (const change of batch) {
      const undo = of(change.table).apply(change)
      if (undo === undefined) {
        for (const back of undos.reverse()) back()
        return false
      }
      undos.push(undo)
    }
    return true
  }
  return {
    capabilities: { search: 'tokens', shared: false },
    state: 'ok',
    onState: () => () => {},
    get: async (table, key) => of(table).get(key),
    find: async (table, query) => of(table).find(query),
    sum: async (table, query) => of(table).sum(query),
    write: async (batch) => write(batch),
    remove: async (table, where, limit) => of(table).remove(where, limit),
    tokens: (table, after) => of(table).tokens(after),
    storedTables: async () => [...all.keys()],
    bytes: async () => [...all.values()].reduce((sum, rows) => sum + rows.bytes(), 0),
    close: async () => all.clear(),
  }
}

/** Rows in the memory of this process: nothing to set up, nothing survives it. */
export const memory = () => storage({ id: 'memory', open: async (tables) => open(tables) })

type Undo = () => void

const NONE: ReadonlySet<string> = new Set()
const nameOf = (key: readonly string[]): string => key.join('\0')

const stored = (kind: Column, value: unknown): unknown => (kind === 'json' && value !== null ? writeJson(value) : value)
const returned = (kind: Column, value: unknown): unknown =>
  kind === 'json' && typeof value === 'string' ? readJson(value) : value

/** The rows of one table, with its unique columns watched. */
class Rows {
  readonly #key: readonly string[]
  readonly #columns: readonly (readonly [name: string, kind: Column])[]
  readonly #search: string | undefined
  readonly #rows = new Map<string, Stored>()
  readonly #taken: readonly { readonly columns: readonly string[]; readonly by: Map<string, string> }[]
  #recorded = 0
  /** The rows stand in the order in which they were first put. */
  #sorted = true

  constructor(table: Table) {
    this.#key = table.key ?? ['id']
    const columns = Object.entries(table.columns)
    this.#columns = columns.filter(([, kind]) => kind !== 'search')
    this.#search = columns.find(([, kind]) => kind === 'search')?.[0]
    this.#taken = (table.unique ?? []).map((unique) => ({ columns: unique, by: new Map() }))
  }

  get(key: readonly string[]): AnyRow | undefined {
    const row = this.#rows.get(nameOf(key))
    return row && this.#out(row)
  }

  find(query: DriverQuery): DriverPage {
    const { order, limit } = query
    const found = this.#found(query)
    const page = found.slice(0, limit)
    const last = page.at(-1)
    return {
      rows: page.map((row) => this.#out(row)),
      positions: page.map((row) => positionOf(row, order)),
      next: found.length > limit && last !== undefined ? positionOf(last, order) : null,
      truncated: false,
    }
  }

  sum(query: DriverSum): readonly Group[] {
    const groups = new Groups(query)
    for (const { values } of this.#rows.values()) if (meets(values, query.where)) groups.add(values)
    return groups.all()
  }

  /** In order; where the rows stand in it already, one more than the limit at most. */
  #found({ where, search, order, limit, after }: DriverQuery): readonly Stored[] {
    const meetsAll = (row: Stored): boolean => meets(row.values, where) && holdsAll(row.tokens, search)
    const named = this.#named(where)
    if (named === undefined && this.#sorted && order[0] === 'recorded' && order[1] === 'asc')
      return this.#following(after?.recorded ?? 0, limit + 1, meetsAll)
    const found: Stored[] = []
    for (const row of named ?? this.#rows.values())
      if ((after === null || isBehind(row, after, order)) && meetsAll(row)) found.push(row)
    return found.sort((a, b) => comparePositions(positionOf(a, order), positionOf(b, order), order))
  }

  #following(recorded: number, count: number, isMatch: (row: Stored) => boolean): readonly Stored[] {
    const found: Stored[] = []
    for (const row of this.#rows.values()) {
      if (row.recorded <= recorded || !isMatch(row)) continue
      found.push(row)
      if (found.length === count) break
    }
    return found
  }

  /** The rows of the keys that `where` spells out; undefined where it does not. */
  #named(where: AnyWhere): readonly Stored[] | undefined {
    const parts = this.#key.map((column) => valuesOf(where[column]))
    const last = parts.pop()
    const before = parts.map((values) => (values?.length === 1 ? values[0] : undefined))
    if (last === undefined || before.includes(undefined)) return undefined
    const names = new Set(last.map((value) => nameOf([...before, value].map(String))))
    return [...names].flatMap((name) => this.#rows.get(name) ?? [])
  }

  /** Makes one change and returns how to take it back; undefined, and nothing changed, if a condition failed. */
  apply(change: DriverChange): Undo | undefined {
    if (change.kind === 'put') return this.#put(change.row, change.absent)
    const name = nameOf(change.key)
    const before = this.#rows.get(name)
    if (change.kind === 'remove') return this.#set(name, undefined)
    if (change.kind === 'add') return this.#add(change, before)
    if (before === undefined || !meets(before.values, change.expected)) return undefined
    return this.#set(
      name,
      this.#in({ ...before.values, ...this.#encoded(change.changes) }, before.recorded, change.changes, before.tokens),
    )
  }

  remove(where: AnyWhere, limit: number): number {
    let removed = 0
    for (const [name, row] of this.#rows) {
      if (removed === limit) break
      if (!meets(row.values, where)) continue
      this.#set(name, undefined)
      removed++
    }
    return removed
  }

  /** The tokens of the rows behind a position, in order. */
  async *tokens(after: number): AsyncGenerator<RowTokens> {
    const rows = [...this.#rows.values()].filter(({ recorded }) => recorded > after)
    for (const { recorded, tokens } of rows.sort((a, b) => a.recorded - b.recorded))
      yield { recorded, tokens: [...tokens] }
  }

  /** Characters of text and 8 for everything else. */
  bytes(): number {
    let bytes = 0
    for (const { values } of this.#rows.values()) {
      for (const value of Object.values(values)) bytes += typeof value === 'string' ? value.length : 8
    }
    return bytes
  }

  #put(row: AnyRow, absent: boolean): Undo | undefined {
    const name = nameOf(this.#key.map((column) => String(row[column])))
    const before = this.#rows.get(name)
    if (before !== undefined && absent) return undefined
    return this.#set(name, this.#in(this.#encoded(row), before?.recorded ?? this.#recorded + 1, row, NONE))
  }

  #add({ key, sums }: Extract<DriverChange, { readonly kind: 'add' }>, before: Stored | undefined): Undo | undefined {
    const values = { ...(before?.values ?? Object.fromEntries(this.#key.map((column, place) => [column, key[place]]))) }
    for (const [name, addend] of Object.entries(sums)) values[name] = sumOf(Number(values[name] ?? 0), addend)
    return this.#set(nameOf(key), { recorded: this.#recorded + 1, tokens: NONE, ...before, values })
  }

  #encoded(row: AnyRow): Record<string, unknown> {
    const values: Record<string, unknown> = {}
    for (const [name, kind] of this.#columns) {
      const value = row[name]
      if (value !== undefined) values[name] = stored(kind, value)
    }
    return values
  }

  #in(values: AnyRow, recorded: number, written: AnyRow, tokens: ReadonlySet<string>): Stored {
    const words = this.#search === undefined ? undefined : written[this.#search]
    return { recorded, values, tokens: words === undefined ? tokens : new Set((words ?? []) as readonly string[]) }
  }

  #out({ values }: Stored): AnyRow {
    const row: Record<string, unknown> = {}
    for (const [name, kind] of this.#columns) row[name] = returned(kind, values[name] ?? null)
    return row
  }

  /** Undefined if another row has one of the unique values. */
  #set(name: string, row: Stored | undefined): Undo | undefined {
    const before = this.#rows.get(name)
    const expected = this.#taken.map(({ columns, by }) => ({
      by,
      value: row && uniqueValue(row, columns),
      old: before && uniqueValue(before, columns),
    }))
    if (expected.some(({ by, value }) => value !== undefined && (by.get(value) ?? name) !== name)) return undefined
    for (const { by, value, old } of expected) {
      if (old !== undefined) by.delete(old)
      if (value !== undefined) by.set(value, name)
    }
    if (row !== undefined && before === undefined && row.recorded <= this.#recorded) this.#sorted = false
    if (row === undefined) this.#rows.delete(name)
    else this.#rows.set(name, row)
    this.#recorded = Math.max(this.#recorded, row?.recorded ?? 0)
    return () => void this.#set(name, before)
  }
}

/** The exact sum of two safe integers, stopped at the last that is safe. */
const sumOf = (one: number, other: number): number =>
  Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, one + other))

const isBehind = (row: Stored, after: Position, order: Order): boolean =>
  comparePositions(positionOf(row, order), after, order) > 0

/** The values that a test lets pass, where it names them. */
const valuesOf = (test: AnyWhere[string] | undefined): readonly unknown[] | undefined => {
  if (test === undefined || test === null) return undefined
  if (typeof test !== 'object') return [test]
  return 'in' in test ? test.in : undefined
}

/** Text that two rows share exactly if they share all the columns; undefined if one is null. */
const uniqueValue = ({ values }: Stored, columns: readonly string[]): string | undefined => {
  const parts = columns.map((column) => values[column] ?? null)
  return parts.includes(null) ? undefined : writeJson(parts)
}

type Mutable = { by: Group['by']; rows: number; sums: Record<string, number> }

/** Adds rows up, those together that are equal in some columns. */
class Groups {
  readonly #query: Pick<DriverSum, 'by' | 'of'>
  readonly #groups = new Map<string, Mutable>()

  constructor(query: Pick<DriverSum, 'by' | 'of'>) {
    this.#query = query
  }

  add(values: AnyRow): void {
    const { by, of } = this.#query
    const key = by.map((name) => values[name] ?? null)
    const name = JSON.stringify(key)
    let group = this.#groups.get(name)
    if (group === undefined) {
      const same = Object.fromEntries(by.map((column, at) => [column, key[at]])) as Group['by']
      group = { by: same, rows: 0, sums: Object.fromEntries(of.map((column) => [column, 0])) }
      this.#groups.set(name, group)
    }
    group.rows++
    for (const column of of) group.sums[column] = (group.sums[column] ?? 0) + Number(values[column] ?? 0)
  }

  all(): readonly Group[] {
    return [...this.#groups.values()]
  }
}

/** A row as this backend keeps it: json columns as text, tokens apart. */
interface Stored {
  readonly recorded: number
  readonly values: AnyRow
  readonly tokens: ReadonlySet<string>
}

type Value = string | number | bigint | boolean

/** The place of a code unit among code points: surrogates stand for what lies behind U+FFFF. */
const rank = (unit: number): number => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800)

/** By code points, as a database compares the bytes of UTF-8. */
const compareTexts = (a: string, b: string): number => {
  const end = Math.min(a.length, b.length)
  for (let at = 0; at < end; at++) {
    const difference = rank(a.charCodeAt(at)) - rank(b.charCodeAt(at))
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

const compare = (a: Value, b: Value): number => {
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b)
  return a < b ? -1 : a > b ? 1 : 0
}

type Range = { readonly gte?: Value; readonly lt?: Value }

/** A range without ends holds everything, null too. */
const inRange = (value: Value | null, { gte, lt }: Range): boolean => {
  if (value === null) return gte === undefined && lt === undefined
  return (gte === undefined || compare(value, gte) >= 0) && (lt === undefined || compare(value, lt) < 0)
}

const passes = (value: Value | null, test: AnyWhere[string]): boolean => {
  if (test === null || typeof test !== 'object') return value === test
  if ('in' in test) return value !== null && test.in.includes(value)
  return 'not' in test ? value !== null : inRange(value, test)
}

/** Whether the row meets every test. */
const meets = (values: AnyRow, where: AnyWhere): boolean => {
  for (const [name, test] of Object.entries(where)) {
    if (test !== undefined && !passes((values[name] ?? null) as Value | null, test)) return false
  }
  return true
}

const holds = (tokens: ReadonlySet<string>, expected: string): boolean => {
  if (!expected.endsWith('*')) return tokens.has(expected)
  const start = expected.slice(0, -1)
  for (const token of tokens) if (token.startsWith(start)) return true
  return false
}

/** Whether every token, or beginning of one, occurs. */
const holdsAll = (tokens: ReadonlySet<string>, search: readonly string[]): boolean =>
  search.every((expected) => holds(tokens, expected))

/** Where a row stands in an order. */
const positionOf = ({ values, recorded }: Stored, [column]: Order): Position => ({
  recorded,
  value: column === 'recorded' ? null : ((values[column] ?? null) as Value | null),
})

/** Compares two places in an order: nulls last, ties by `recorded`. */
const comparePositions = (a: Position, b: Position, [, direction]: Order): number => {
  const sign = direction === 'asc' ? 1 : -1
  if (a.value === b.value) return sign * (a.recorded - b.recorded)
  if (a.value === null) return 1
  if (b.value === null) return -1
  return sign * compare(a.value, b.value) || sign * (a.recorded - b.recorded)
}
