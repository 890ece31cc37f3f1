import type { Clock } from 'guard-gateway/core'

/** Nanoseconds of a millisecond, and of a day. */
export const NS_PER_MS = 1_000_000n

export const DAY_NS = 86_400_000n * NS_PER_MS

/** The time, nanoseconds since 1970. */
export const nowNs = (clock: Clock): bigint => BigInt(clock.now()) * NS_PER_MS
