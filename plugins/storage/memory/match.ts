import type { AnyRow, AnyWhere, Order, Position } from 'guard-gateway/core'

/** A row as this backend keeps it: json columns as text, tokens apart. */
export interface Stored {
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
export const meets = (values: AnyRow, where: AnyWhere): boolean => {
  for (const [name, test] of Object.entries(where)) {
    if (test !== undefined && !passes((values[name] ?? null) as Value | null, test)) return false
  }
  return true
}

const holds = (tokens: ReadonlySet<string>, wanted: string): boolean => {
  if (!wanted.endsWith('*')) return tokens.has(wanted)
  const start = wanted.slice(0, -1)
  for (const token of tokens) if (token.startsWith(start)) return true
  return false
}

/** Whether every token, or beginning of one, occurs. */
export const holdsAll = (tokens: ReadonlySet<string>, search: readonly string[]): boolean =>
  search.every((wanted) => holds(tokens, wanted))

/** Where a row stands in an order. */
export const positionOf = ({ values, recorded }: Stored, [column]: Order): Position => ({
  recorded,
  value: column === 'recorded' ? null : ((values[column] ?? null) as Value | null),
})

/** Compares two places in an order: nulls last, ties by `recorded`. */
export const comparePositions = (a: Position, b: Position, [, direction]: Order): number => {
  const sign = direction === 'asc' ? 1 : -1
  if (a.value === b.value) return sign * (a.recorded - b.recorded)
  if (a.value === null) return 1
  if (b.value === null) return -1
  return sign * compare(a.value, b.value) || sign * (a.recorded - b.recorded)
}
