import type { Attributes } from 'guard-gateway/core'
import type { Sums } from './run-spans.ts'

/** Run attribute: how many nanoseconds before its first top-level span a span below says to have begun. */
export const CLOCK_SKEW = 'guard.clock_skew_ns'

/** Clocks of one machine differ by less. */
const MIN_SKEW_NS = 1_000_000_000n

/** The attributes of a run with its clock skew, if there is one. Times of spans stay as they were told. */
export const withClockSkew = (attributes: Attributes, { start_ns, earliest_ns }: Readonly<Sums>): Attributes => {
  const skew_ns = start_ns === null || earliest_ns === null ? 0n : start_ns - earliest_ns
  const said = skew_ns < MIN_SKEW_NS ? undefined : Number(skew_ns)
  if (attributes[CLOCK_SKEW] === said) return attributes
  const { [CLOCK_SKEW]: _before, ...rest } = attributes
  return said === undefined ? rest : { ...rest, [CLOCK_SKEW]: said }
}
