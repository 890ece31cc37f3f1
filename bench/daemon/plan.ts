import type { BenchOptions } from '../options.ts'

/** How much the suite measures. */
export interface DaemonPlan {
  readonly rounds: number
  /** Milliseconds between the start of a target and its first figure. */
  readonly settle_ms: number
  /** How long the targets idle before their first request. */
  readonly idle_ms: number
  readonly first: { readonly requests: number; readonly pause_ms: readonly [number, number] }
  /** Chats after which memory is measured, and chats in all. */
  readonly chats: { readonly first: number; readonly all: number }
  /** How long the targets idle after their last chat. */
  readonly after_ms: number
  /** Requests before CPU is measured, and requests measured. */
  readonly cold: { readonly before: number; readonly measured: number }
}

const MINUTE_MS = 60_000
/** An agent that works: a request after each tool call. */
const PACE_MS = [150, 300] as const

export const planOf = ({ smoke, full, rounds, requests, idle }: BenchOptions): DaemonPlan => {
  if (smoke)
    return {
      ...{ rounds: 1, settle_ms: 0, idle_ms: 100, after_ms: 100 },
      first: { requests: 4, pause_ms: [1, 5] },
      chats: { first: 20, all: 40 },
      cold: { before: 20, measured: 20 },
    }
  return {
    ...{ rounds, settle_ms: full ? 2 * MINUTE_MS : 5_000, idle_ms: MINUTE_MS },
    first: { requests: 300, pause_ms: PACE_MS },
    chats: { first: 20_000, all: requests ?? (full ? 500_000 : 100_000) },
    after_ms: idle === undefined ? (full ? 10 : 1) * MINUTE_MS : idle * 1000,
    cold: { before: 2_000, measured: 2_000 },
  }
}
