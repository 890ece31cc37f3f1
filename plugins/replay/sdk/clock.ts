/** Nanoseconds since 1970. Monotonic within one trace. */
export type TraceClock = () => bigint

/** Reads the wall clock once, then the monotonic clock, so that a clock change does not distort a trace. */
export const traceClock = (): TraceClock => {
  const offset = BigInt(Date.now()) * 1_000_000n - process.hrtime.bigint()
  return () => offset + process.hrtime.bigint()
}
