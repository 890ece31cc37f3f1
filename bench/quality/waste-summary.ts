import { type Observation, quantile } from './observation.ts'

/** Requests, their tokens, and their cost in millionths of a dollar. */
export interface Spending {
  readonly requests: number
  readonly tokens: number
  readonly cost_micro: number
}

/** Waste of runs labelled as loops, and the part that a stop at the first alarm would have saved. */
export interface WasteSummary {
  readonly loops: number
  /** Loops with an alarm. */
  readonly stopped: number
  /** Requests from the first stale turn to the stop. Null without a stop. */
  readonly median_lag: number | null
  readonly wasted: Spending
  /** Waste before the stop, and in loops without a stop. */
  readonly before: Spending
  readonly saved: Spending
  /** Share of the wasted tokens. Null without waste. */
  readonly saved_share: number | null
  readonly usd_per_million_tokens: number
}

/** Costs of stops: prevented work. A clean run that solved its task counts in both groups. */
export interface LostSummary {
  readonly clean: Spending & { readonly runs: number }
  readonly solved: Spending & { readonly runs: number }
  /** Loops that were stopped before their first repetition. */
  readonly early: Spending & { readonly runs: number }
}

/** Null without loops. */
export const wasteOfAll = (members: readonly Observation[]): WasteSummary | null => {
  const loops = members.filter(({ wasted_requests }) => wasted_requests !== null)
  const [first] = loops
  if (first === undefined) return null
  const wasted = total(loops, 'wasted')
  const saved = total(loops, 'waste_saved')
  const lags = loops.flatMap(({ stop_lag_steps }) => stop_lag_steps ?? [])
  return {
    loops: loops.length,
    stopped: lags.length,
    median_lag: lags.length === 0 ? null : quantile(lags, 0.5),
    wasted,
    before: {
      requests: wasted.requests - saved.requests,
      tokens: wasted.tokens - saved.tokens,
      cost_micro: wasted.cost_micro - saved.cost_micro,
    },
    saved,
    saved_share: wasted.tokens === 0 ? null : saved.tokens / wasted.tokens,
    usd_per_million_tokens: first.usd_per_million_tokens,
  }
}

export const lostWork = (members: readonly Observation[]): LostSummary => {
  const stopped = members.filter((one) => one.first_detection_step !== null)
  return {
    clean: lostIn(stopped.filter(({ label }) => label === 'clean')),
    solved: lostIn(stopped.filter(({ resolved }) => resolved === true)),
    early: lostIn(stopped.filter((one) => one.resolved !== true && (one.stop_lag_steps ?? 0) < 0)),
  }
}

const lostIn = (runs: readonly Observation[]): Spending & { readonly runs: number } => ({
  runs: runs.length,
  ...total(runs, 'work_lost'),
})

const total = (members: readonly Observation[], of: 'wasted' | 'waste_saved' | 'work_lost'): Spending => {
  const sum = (unit: 'requests' | 'tokens' | 'cost_micro') =>
    members.reduce((all, one) => all + (one[`${of}_${unit}`] ?? 0), 0)
  return { requests: sum('requests'), tokens: sum('tokens'), cost_micro: sum('cost_micro') }
}
