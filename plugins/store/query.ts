import type { AnyWhere, Capabilities, Column, DriverQuery, DriverSum, Order } from 'guard-gateway/core'
import { GuardError } from 'guard-gateway/core'
import { openCursor } from './cursor.ts'
import { storeErrors } from './error-codes.ts'
import { checkNames, type Plan } from './plan.ts'

/** A query as features write it, before its names are checked. */
export interface LooseQuery {
  readonly where?: AnyWhere
  readonly search?: readonly string[]
  readonly order?: Order
  readonly limit?: number
  readonly cursor?: string
  readonly cursors?: boolean
}

const TOKEN = /^[\p{L}\p{M}\p{N}_]+\*?$/u
const MAX_LIMIT = 10_000

const unsupported = ({ table }: Plan, what: string) =>
  new GuardError(storeErrors.FILTER_UNSUPPORTED, `Table "${table.id}": ${what}.`)

/** Throws if a test names an unknown column or one that cannot be tested. */
export const checkWhere = (plan: Plan, where: AnyWhere): AnyWhere => {
  checkNames(plan, where)
  for (const name of Object.keys(where)) {
    const kind = plan.columns.get(name)
    if (kind === 'json' || kind === 'search')
      throw unsupported(plan, `"${name}" is a ${kind} column and cannot be filtered by`)
  }
  return where
}

const isEquality = (test: AnyWhere[string] | undefined): boolean =>
  test !== undefined && (test === null || typeof test !== 'object')

/** Whether some index has the order column after columns that are each held to one value. */
const served = ({ table, key }: Plan, where: AnyWhere, column: string): boolean =>
  [key, ...(table.indexes ?? []), ...(table.unique ?? [])].some((index) => {
    const place = index.indexOf(column)
    return place !== -1 && index.slice(0, place).every((before) => isEquality(where[before]))
  })

const checkOrder = (plan: Plan, where: AnyWhere, [column]: Order): void => {
  if (column === 'recorded') return
  checkNames(plan, { [column]: 0 })
  if (!served(plan, where, column)) throw unsupported(plan, `no index serves the order by "${column}"`)
}

const checkSearch = (plan: Plan, search: readonly string[], capabilities: Capabilities): void => {
  if (search.length === 0) return
  if (plan.search === undefined) throw unsupported(plan, 'it has no search column')
  if (capabilities.search === 'none') throw unsupported(plan, 'this storage backend has no search')
  const odd = search.find((token) => !TOKEN.test(token))
  if (odd !== undefined) throw unsupported(plan, `${JSON.stringify(odd)} is no search token`)
}

/** The complete, checked form of a query; throws FILTER_UNSUPPORTED, UNKNOWN_COLUMN or INVALID_CURSOR. */
export const checkQuery = (plan: Plan, query: LooseQuery, capabilities: Capabilities): DriverQuery => {
  const { where = {}, search = [], order = ['recorded', 'desc'], limit = 50, cursor } = query
  checkWhere(plan, where)
  checkOrder(plan, where, order)
  checkSearch(plan, search, capabilities)
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw unsupported(plan, `a page has 1 to ${MAX_LIMIT} rows, not ${limit}`)
  const kind = order[0] === 'recorded' ? 'integer' : (plan.columns.get(order[0]) ?? 'json')
  const after = cursor === undefined ? null : openCursor(plan.table.id, { where, search, order }, kind, cursor)
  return { where, search, order, limit, after }
}

/** A sum as features write it, before its names are checked. */
export interface LooseSum {
  readonly where?: AnyWhere
  readonly order?: Order
  readonly by: readonly string[]
  readonly of: readonly string[]
}

const GROUPED: ReadonlySet<Column | undefined> = new Set<Column>(['text', 'integer', 'boolean'])
const ADDED: ReadonlySet<Column | undefined> = new Set<Column>(['integer'])

/** The complete, checked form of a sum; throws FILTER_UNSUPPORTED or UNKNOWN_COLUMN. */
export const checkSum = (plan: Plan, { where = {}, order = ['recorded', 'asc'], by, of }: LooseSum): DriverSum => {
  checkWhere(plan, where)
  checkOrder(plan, where, order)
  const check = (names: readonly string[], kinds: ReadonlySet<Column | undefined>, what: string): void => {
    checkNames(plan, Object.fromEntries(names.map((name) => [name, 0])))
    const odd = names.find((name) => !kinds.has(plan.columns.get(name)))
    if (odd !== undefined)
      throw unsupported(plan, `"${odd}" is a ${plan.columns.get(odd)} column and cannot be ${what}`)
  }
  check(by, GROUPED, 'grouped by')
  check(of, ADDED, 'added up')
  return { where, order, by, of }
}
