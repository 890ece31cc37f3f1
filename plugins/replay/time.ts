import type { Clock } from 'guard-gateway/core'

export const NS_PER_MS = 1_000_000n

export const DAY_NS = 86_400_000n * NS_PER_MS

/** Current time, nanoseconds since 1970. */
export const nowNs = (clock: Clock): bigint => BigInt(clock.now()) * NS_PER_MS

/** Maximum of a time column, in the year 2262. */
export const LAST_NS = 2n ** 63n - 1n

/** Clamps a time to the range of a column. */
export const withinNs = (time: bigint): bigint => (time < 0n ? 0n : time > LAST_NS ? LAST_NS : time)
