/** More tokens than this in one call are no count of tokens. */
const MAX_TOKENS = 1e12
/** The same of money, in millionths. */
const MAX_COST_MICRO = 1e15

const NUMBER = /^\d{1,20}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,2})?$/

const numberOf = (value: unknown): number => {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'string' && NUMBER.test(value.trim()) ? Number(value) : Number.NaN
}

/** A count of tokens, rounded; undefined for what is none: negative, not finite, absurd, no number. */
export const tokenCount = (value: unknown): number | undefined => {
  const count = Math.round(numberOf(value))
  return count >= 0 && count <= MAX_TOKENS ? count + 0 : undefined
}

/** An amount in millionths, rounded, from one in units of `unit` millionths; undefined for what is none. */
export const costMicro = (value: unknown, unit = 1_000_000): number | undefined => {
  const micro = Math.round(numberOf(value) * unit)
  return micro >= 0 && micro <= MAX_COST_MICRO ? micro + 0 : undefined
}
