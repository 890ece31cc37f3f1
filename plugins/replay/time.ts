import type { Clock } from 'guard-gateway/core'

/** Nanoseconds of a millisecond, and of a day. */
export const NS_PER_MS = 1_000_000n

export const DAY_NS = 86_400_000n * NS_PER_MS

/** The time, nanoseconds since 1970. */
export const nowNs = (clock: Clock): bigint => BigInt(clock.now()) * NS_PER_MS

/** The last time that a column holds, in the year 2262. */
const LAST_NS = 2n ** 63n - 1n

/** A time as near as runs have one: none began before 1970, or after what a column holds. */
export const withinNs = (time: bigint): bigint => (time < 0n ? 0n : time > LAST_NS ? LAST_NS : time)
