import type { Column, DriverQuery, Position } from 'guard-gateway/core'
import { GuardError } from 'guard-gateway/core'
import { sha256 } from '#lib/ids'
import { readJson, writeJson } from '#lib/json'

/** What a cursor belongs to: everything of a query but its limit. */
const queryFingerprint = (table: string, { where, search, order }: Omit<DriverQuery, 'after' | 'limit'>): string =>
  sha256(writeJson([table, order, Object.entries(where).sort(([a], [b]) => (a < b ? -1 : 1)), search])).slice(0, 16)

/** A position as an opaque text that only the same query accepts. */
export const sealCursor = (
  table: string,
  query: Omit<DriverQuery, 'after' | 'limit'>,
  { recorded, value }: Position,
): string => {
  const plain = typeof value === 'bigint' ? [String(value)] : value
  return Buffer.from(writeJson([queryFingerprint(table, query), recorded, plain])).toString('base64url')
}

const TYPES = {
  text: 'string',
  integer: 'number',
  real: 'number',
  boolean: 'boolean',
  int64: 'object',
  json: '',
  search: '',
} as const

const orderValue = (plain: unknown, kind: Column): Position['value'] | undefined => {
  if (plain === null) return null
  const type = typeof plain
  if (type !== TYPES[kind]) return undefined
  if (!Array.isArray(plain)) return type === 'object' ? undefined : (plain as string | number | boolean)
  const exact = typeof plain[0] === 'string' && /^-?\d{1,19}$/.test(plain[0]) ? BigInt(plain[0]) : undefined
  return exact !== undefined && BigInt.asIntN(64, exact) === exact ? exact : undefined
}

const parse = (cursor: string): unknown => {
  try {
    return readJson(Buffer.from(cursor, 'base64url').toString())
  } catch {
    return undefined
  }
}

/** The position in a cursor; throws INVALID_CURSOR if it was not made for this query. */
export const openCursor = (
  table: string,
  query: Omit<DriverQuery, 'after' | 'limit'>,
  kind: Column,
  cursor: string,
): Position => {
  const parts = parse(cursor)
  if (
    Array.isArray(parts) &&
    parts.length === 3 &&
    parts[0] === queryFingerprint(table, query) &&
    Number.isSafeInteger(parts[1])
  ) {
    const value = orderValue(parts[2], kind)
    if (value !== undefined) return { recorded: parts[1], value }
  }
  throw new GuardError(
    'INVALID_CURSOR',
    'The cursor does not belong to this query. Start again without a cursor, and keep filters and order while paging.',
  )
}
