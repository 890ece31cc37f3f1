import type { AnyRow, AnyWhere, Order, Position } from 'guard-gateway/core'

/** A row as this backend keeps it: json columns as text, tokens apart. */
export interface Stored {
  readonly recorded: number
  readonly values: AnyRow
  readonly tokens: ReadonlySet<string>
}

type Value = string | number | bigint | boolean

const compare = (a: Value, b: Value): number => (a < b ? -1 : a > b ? 1 : 0)

const inRange = (value: Value, { gte, lt }: { readonly gte?: Value; readonly lt?: Value }): boolean =>
  (gte === undefined || compare(value, gte) >= 0) && (lt === undefined || compare(value, lt) < 0)

const passes = (value: Value | null, test: AnyWhere[string]): boolean => {
  if (test === null || value === null) return value === test
  if (typeof test !== 'object') return value === test
  if ('in' in test) return test.in.includes(value)
  return 'not' in test || inRange(value, test)
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
