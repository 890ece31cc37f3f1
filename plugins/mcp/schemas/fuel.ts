/** How much work one validation may still do; shared by everything compiled into one schema. */
export interface Fuel {
  left: number
}

/** Calls of referenced schemas, plus one for every 64 characters that a pattern reads. */
export const MAX_FUEL = 500_000
const UNITS_PER_STEP = 64

/** Raised inside a validation that has used up its fuel. */
export class FuelSpent extends Error {}

/** Takes the fuel for reading `length` characters. Throws FuelSpent. */
export const burn = (fuel: Fuel, length: number): void => {
  fuel.left -= 1 + length / UNITS_PER_STEP
  if (fuel.left < 0) throw new FuelSpent('out of fuel')
}
