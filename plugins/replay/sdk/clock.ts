/** The time, nanoseconds since 1970, rising steadily within one trace. */
export type TraceClock = () => bigint

/** A clock set by wall time once; from there on the monotonic clock decides, so that no correction of the hour bends a trace. */
export const traceClock = (): TraceClock => {
  const offset = BigInt(Date.now()) * 1_000_000n - process.hrtime.bigint()
  return () => offset + process.hrtime.bigint()
}
