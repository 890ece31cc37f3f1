/** The result of one detector on one case: a line of `bench.observation.v1`. Steps are requests, counted from 1. */
export interface Observation {
  readonly schema: 'bench.observation.v1'
  readonly run_id: string
  readonly at: string
  readonly git: string | null
  readonly node: string
  readonly cpu: string
  /** The price of a million tokens of any kind. */
  readonly usd_per_million_tokens: number
  readonly detector: {
    readonly id: string
    /** `peer`: the loop guard of another agent, by its published rule. */
    readonly kind: 'detector' | 'rules' | 'peer'
    readonly version: string
    /** Null for a rule set. */
    readonly rule_type: string | null
    readonly params: Readonly<Record<string, unknown>> | null
  }
  readonly suite: 'vectors' | 'corpus' | 'synthetic'
  readonly case_id: string
  /** The collection of a recorded run. */
  readonly collection: string | null
  readonly source: string | null
  /** The task of the run, which several runs can share. Null if each case is a task of its own. */
  readonly task: string | null
  readonly split: string | null
  readonly style: string
  readonly tier: 'must' | 'should' | null
  readonly kind: string | null
  readonly label: 'loop' | 'clean' | 'ambiguous' | null
  readonly expected: {
    readonly decision: string | null
    readonly reason: string | null
    readonly step: number | null
  } | null
  readonly loop_start_step: number | null
  readonly resolved: boolean | null
  /** The most severe decision. */
  readonly decision: 'allow' | 'shadow_flag' | 'block'
  readonly reason: string | null
  readonly rule_id: string | null
  /** Matches over all requests. */
  readonly matches: number
  readonly first_detection_step: number | null
  readonly lag_steps: number | null
  readonly outcome: 'tp' | 'fp' | 'fn' | 'tn' | 'early' | 'excluded' | 'pass' | 'fail'
  readonly false_positive: boolean
  readonly false_negative: boolean
  /** A run that solved its task would have been stopped. */
  readonly harmful_block: boolean
  readonly requests_total: number
  /** Requests after the detected one. 0 without a detection. */
  readonly requests_after: number
  readonly steps_saved: number
  readonly tokens_total: number
  readonly tokens_saved: number
  readonly tokens_estimated: boolean
  /** Cost of `tokens_saved` in millionths of a dollar. All costs are estimates by `usd_per_million_tokens`. */
  readonly cost_saved_micro: number | null
  /** The request with the first stale turn. Null for a run without a loop. */
  readonly first_stale_step: number | null
  /** The request with the third stale turn within six turns. This request and all later ones are wasted. */
  readonly waste_start_step: number | null
  /** Requests from `first_stale_step` to the stopped one. Negative if the stop is earlier. */
  readonly stop_lag_steps: number | null
  /** Waste without a stop. Null for a run without a loop. */
  readonly wasted_requests: number | null
  readonly wasted_tokens: number | null
  readonly wasted_cost_micro: number | null
  /** The wasted requests from the stop on, including the refused one. */
  readonly waste_saved_requests: number | null
  readonly waste_saved_tokens: number | null
  readonly waste_saved_cost_micro: number | null
  /**
   * Useful work after the stop: all later requests of a run that is no loop or solved its task, else those before the
   * first repetition. Null if unknown.
   */
  readonly work_lost_requests: number | null
  readonly work_lost_tokens: number | null
  readonly work_lost_cost_micro: number | null
  /** Null without a measurement. */
  readonly latency_ns: Latency | null
  readonly ops_per_second: number | null
  readonly body_bytes_p50: number | null
  /** Serialized size of the session state at the end: its rows without findings, and the memory of the subject's detectors. */
  readonly state_bytes: number | null
  readonly error: string | null
}

/** Nanoseconds per request. */
export interface Latency {
  readonly p50: number
  readonly p99: number
  readonly max: number
  readonly mean: number
  readonly n: number
}

/** Fields that all observations of a bench run share. */
export type RunFacts = Pick<Observation, 'schema' | 'run_id' | 'at' | 'git' | 'node' | 'cpu' | 'usd_per_million_tokens'>

/** A quantile of the numbers; `share` is from 0 to 1. NaN for an empty list. */
export const quantile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Null for an empty list. */
export const latencyOf = (samples: readonly number[]): Latency | null => {
  if (samples.length === 0) return null
  const mean = samples.reduce((sum, one) => sum + one, 0) / samples.length
  const [p50, p99, max] = [quantile(samples, 0.5), quantile(samples, 0.99), quantile(samples, 1)]
  return { p50: Math.round(p50), p99: Math.round(p99), max: Math.round(max), mean: Math.round(mean), n: samples.length }
}
