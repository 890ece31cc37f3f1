import { isJsonObject } from 'guard-gateway/lib/json'

/** How many evaluations of cheap keywords, or lookups of a name, take the time of one unit of fuel. */
const PER_UNIT = 25
/** Most members that a schema names are not there. */
const ABSENT = 4

/** Units of fuel that some schemas, each evaluated once, take without what their keywords are charged for. Recurses, no deeper than schemas nest. */
export const weightOf = (held: unknown): number =>
  (Array.isArray(held) ? held : [held]).reduce<number>((sum, schema) => sum + stepsOf(schema), 0) / PER_UNIT

const stepsOf = (schema: unknown): number => {
  if (!isJsonObject(schema)) return 1
  const { properties } = schema
  const named = isJsonObject(properties) ? Object.values(properties) : []
  return named.reduce<number>((sum, part) => sum + stepsOf(part) / ABSENT, 1 + Object.keys(schema).length)
}

/** Units of fuel to look for so many names. */
export const namesWeight = (names: number): number => names / PER_UNIT

/** Units of fuel to compare a value with this one, which may be equal. */
export const sizeWeight = (value: unknown): number => {
  let parts = 0
  const waiting = [value]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue
    const inner: readonly unknown[] = Object.values(next)
    parts += 1 + inner.length
    for (const part of inner) waiting.push(part)
  }
  return parts / PER_UNIT
}
