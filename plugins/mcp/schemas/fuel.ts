/** How much work one validation may still do, shared by everything compiled into one schema. One unit is about half a microsecond. */
export interface Fuel {
  left: number
  /** What is being validated, until it has been measured: the larger it is, the more there is to do. */
  value: unknown
}

export const MAX_FUEL = 200_000
/** Additional fuel per character and member of the validated value. */
const SIZE_PER_UNIT = 4

/** Raised inside a validation that has used up its fuel. */
export class FuelSpent extends Error {}

/** Makes the fuel full, for one value. */
export const refuel = (fuel: Fuel, value: unknown): void => {
  fuel.left = MAX_FUEL
  fuel.value = value
}

/** Takes fuel. Throws FuelSpent. */
export const burn = (fuel: Fuel, units: number): void => {
  fuel.left -= units
  if (fuel.left >= 0) return
  // few values need to be measured
  fuel.left += sizeOf(fuel.value) / SIZE_PER_UNIT
  fuel.value = undefined
  if (fuel.left < 0) throw new FuelSpent('out of fuel')
}

/** The cost of a member or an item, in addition to the characters of its name and its text. */
const PER_MEMBER = 12

/** Characters of strings and names, and members. Does not recurse. */
const sizeOf = (value: unknown): number => {
  let size = 0
  const waiting: object[] = []
  const take = (part: unknown): void => {
    if (typeof part === 'string') size += part.length
    else if (typeof part === 'object' && part !== null) waiting.push(part)
  }
  take(value)
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const parts = Array.isArray(next) ? next : Object.values(next)
    size += parts.length * PER_MEMBER
    if (parts !== next) for (const name of Object.keys(next)) size += name.length
    for (const part of parts) take(part)
  }
  return size
}
