import type { BucketsQuery } from '#lib/time'

declare module 'guard-gateway/core' {
  interface Services {
    figures: Figures
  }
}

export type FigureGroup = 'none' | 'decision' | 'reason' | 'model' | 'agent' | 'project' | 'upstream'

/** Which calls are asked for. Times are milliseconds since 1970. */
export interface FiguresQuery extends BucketsQuery {
  readonly group: FigureGroup
  readonly project_id?: string | undefined
  readonly agent_id?: string | undefined
  /** True: calls of the Playground alone; false: all others. */
  readonly playground?: boolean | undefined
}

/** What calls came to. Durations in milliseconds, cost in millionths of the billing currency. */
export interface FigureSums {
  readonly requests: number
  readonly allowed: number
  readonly flagged: number
  readonly blocked: number
  readonly blocked_retries: number
  readonly errors: number
  readonly input_tokens: number
  readonly cache_read_tokens: number
  readonly cache_write_tokens: number
  readonly output_tokens: number
  readonly reasoning_tokens: number
  readonly total_tokens: number
  readonly bytes_in: number
  readonly bytes_out: number
  readonly duration_ms: number
  readonly cost_micro: number
  /** Of calls that were not blocked, interpolated in a histogram whose last end is 300,000; null without such calls. */
  readonly p50_ms: number | null
  readonly p95_ms: number | null
}

/** The sums of one stretch of time, which begins `at`. */
export interface FigureBucket extends FigureSums {
  readonly at: number
}

/** The calls of one group. */
export interface FigureSeries {
  /** Null: those without an agent, upstream or reason, and all calls where nothing is grouped by. `(other)`: groups that were too many. */
  readonly group: string | null
  readonly totals: FigureSums
  /** In order; those without calls are left out. */
  readonly buckets: readonly FigureBucket[]
}

export interface FiguresAnswer {
  /** When the first bucket begins, and the last one ends. */
  readonly since: number
  readonly until: number
  readonly time_zone: string
  /** False: of minutes, the oldest calls were too many to read. */
  readonly complete: boolean
  /** When each bucket begins. */
  readonly starts: readonly number[]
  readonly totals: FigureSums
  /** All calls, whatever their group, in order; those without calls are left out. */
  readonly buckets: readonly FigureBucket[]
  /** Those with the most requests first. */
  readonly series: readonly FigureSeries[]
}

/** Figures over time, of calls on record. */
export interface Figures {
  /** Rejects with INVALID_REQUEST, and with TOO_MANY_BUCKETS above 2,000. */
  read(query: FiguresQuery): Promise<FiguresAnswer>
}
