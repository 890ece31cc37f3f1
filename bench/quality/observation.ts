/** One detector on one case: a line of `bench.observation.v1`. Steps are requests counted from 1. */
export interface Observation {
  readonly schema: 'bench.observation.v1'
  readonly run_id: string
  readonly at: string
  readonly git: string | null
  readonly node: string
  readonly cpu: string
  /** What a million tokens are taken to cost, whatever their kind. */
  readonly usd_per_million_tokens: number
  readonly detector: {
    readonly id: string
    /** A peer is the guard of another agent, by its published rule. */
    readonly kind: 'detector' | 'rules' | 'peer'
    readonly version: string
    /** Null for a set of rules. */
    readonly rule_type: string | null
    readonly params: Readonly<Record<string, unknown>> | null
  }
  readonly suite: 'vectors' | 'corpus' | 'synthetic'
  readonly case_id: string
  /** The collection of recorded runs. */
  readonly collection: string | null
  readonly source: string | null
  /** What the run was asked to do; several runs may share it. Null where each case is its own. */
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
  /** The most severe. */
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
  /** Behind the one that was detected; 0 if none was. */
  readonly requests_after: number
  readonly steps_saved: number
  readonly tokens_total: number
  readonly tokens_saved: number
  readonly tokens_estimated: boolean
  /** Of `tokens_saved`, in millionths of a dollar, an estimate by `usd_per_million_tokens`, as every cost here. */
  readonly cost_saved_micro: number | null
  /** The request that carries the first turn that brought nothing; null if the run is no loop. */
  readonly first_stale_step: number | null
  /** The request that carries the third of them within six turns: from here on requests are wasted. */
  readonly waste_start_step: number | null
  /** Requests from `first_stale_step` to the one that was stopped; below zero if that came before. */
  readonly stop_lag_steps: number | null
  /** Without any stop; null if the run is no loop. */
  readonly wasted_requests: number | null
  readonly wasted_tokens: number | null
  readonly wasted_cost_micro: number | null
  /** From the stop on, the request that is refused included; the rest is wasted before it. */
  readonly waste_saved_requests: number | null
  readonly waste_saved_tokens: number | null
  readonly waste_saved_cost_micro: number | null
  /** Work that a stop cuts off: all that followed in a run that is no loop or solved its task, else what came before the first repetition. Null where nobody knows which of it was work. */
  readonly work_lost_requests: number | null
  readonly work_lost_tokens: number | null
  readonly work_lost_cost_micro: number | null
  /** Null where nothing was measured. */
  readonly latency_ns: Latency | null
  readonly ops_per_second: number | null
  readonly body_bytes_p50: number | null
  /** What the session remembers at the end, serialised: its rows without findings, and what the subject's detectors keep of its conversations. */
  readonly state_bytes: number | null
  readonly error: string | null
}

/** Nanoseconds a request. */
export interface Latency {
  readonly p50: number
  readonly p99: number
  readonly max: number
  readonly mean: number
  readonly n: number
}

/** What all observations of a run have in common. */
export type RunFacts = Pick<Observation, 'schema' | 'run_id' | 'at' | 'git' | 'node' | 'cpu' | 'usd_per_million_tokens'>

/** The value that this share of the numbers does not exceed; NaN of none. */
export const quantile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Null of no samples. */
export const latencyOf = (samples: readonly number[]): Latency | null => {
  if (samples.length === 0) return null
  const mean = samples.reduce((sum, one) => sum + one, 0) / samples.length
  const [p50, p99, max] = [quantile(samples, 0.5), quantile(samples, 0.99), quantile(samples, 1)]
  return { p50: Math.round(p50), p99: Math.round(p99), max: Math.round(max), mean: Math.round(mean), n: samples.length }
}
