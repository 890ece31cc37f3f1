/** How much work one validation may still do, shared by everything compiled into one schema. One unit is about half a microsecond. */
export interface Fuel {
  left: number
  /** What is being validated, until it has been measured: the larger it is, the more there is to do. */
  value: unknown
}

export const MAX_FUEL = 200_000
/** More for every so many characters and members of what is validated. */
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

/** Characters of strings and names, and members. Does not recurse. */
const sizeOf = (value: unknown): number => {
  let size = 0
  const waiting = [value]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === 'string') size += next.length
    if (typeof next !== 'object' || next === null) continue
    for (const [name, member] of Object.entries(next)) {
      size += 8 + name.length
      if (member !== undefined) waiting.push(member)
    }
  }
  return size
}
