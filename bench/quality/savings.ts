import type { Case } from './case.ts'
import type { Observation } from './observation.ts'

/** Savings and costs of a stop. */
export type Savings = Pick<
  Observation,
  | 'requests_total'
  | 'requests_after'
  | 'steps_saved'
  | 'tokens_total'
  | 'tokens_saved'
  | 'cost_saved_micro'
  | keyof WasteFields
>

type WasteFields = Pick<
  Observation,
  | 'first_stale_step'
  | 'waste_start_step'
  | 'stop_lag_steps'
  | 'wasted_requests'
  | 'wasted_tokens'
  | 'wasted_cost_micro'
  | 'waste_saved_requests'
  | 'waste_saved_tokens'
  | 'waste_saved_cost_micro'
  | 'work_lost_requests'
  | 'work_lost_tokens'
  | 'work_lost_cost_micro'
>

/** The waste fields of a run without known waste. */
export const noWaste: WasteFields = {
  first_stale_step: null,
  waste_start_step: null,
  stop_lag_steps: null,
  wasted_requests: null,
  wasted_tokens: null,
  wasted_cost_micro: null,
  waste_saved_requests: null,
  waste_saved_tokens: null,
  waste_saved_cost_micro: null,
  work_lost_requests: null,
  work_lost_tokens: null,
  work_lost_cost_micro: null,
}

/**
 * Savings of a stop at request `step`; null: no stop. `tokens` has the tokens of each request. `price` is in dollars
 * per million tokens, which equals millionths of a dollar per token.
 */
export const savingsOf = (one: Case, tokens: readonly number[], step: number | null, price: number): Savings => {
  const after = step === null ? [] : tokens.slice(step)
  return {
    requests_total: tokens.length,
    requests_after: after.length,
    steps_saved: after.length,
    tokens_total: sum(tokens),
    tokens_saved: sum(after),
    cost_saved_micro: Math.round(sum(after) * price),
    ...wasteFields(one, tokens, step, price),
  }
}

const wasteFields = (one: Case, tokens: readonly number[], step: number | null, price: number): WasteFields => ({
  ...wastedSpending(one, tokens, step, price),
  ...cutOff(one, tokens, step, price),
})

type Spending = Omit<WasteFields, keyof typeof lost>

const wastedSpending = ({ waste }: Case, tokens: readonly number[], step: number | null, price: number): Spending => {
  if (waste === null) return noWaste
  const { first_stale_step, waste_start_step } = waste
  const wasted = tokens.slice(waste_start_step - 1)
  const saved = step === null ? [] : tokens.slice(Math.max(waste_start_step, step) - 1)
  return {
    first_stale_step,
    waste_start_step,
    stop_lag_steps: step === null ? null : step - first_stale_step,
    wasted_requests: wasted.length,
    wasted_tokens: sum(wasted),
    wasted_cost_micro: Math.round(sum(wasted) * price),
    waste_saved_requests: saved.length,
    waste_saved_tokens: sum(saved),
    waste_saved_cost_micro: Math.round(sum(saved) * price),
  }
}

const lost = { work_lost_requests: null, work_lost_tokens: null, work_lost_cost_micro: null }

/** The work that the stop prevents: all of it in a run that is no loop or solved its task, else the part before the first repetition. */
const cutOff = (one: Case, tokens: readonly number[], step: number | null, price: number) => {
  const isWork = one.label === 'clean' || one.resolved === true
  if (!isWork && one.waste === null) return lost
  const end = isWork ? tokens.length : (one.waste?.first_stale_step ?? 1) - 1
  const work = step === null ? [] : tokens.slice(step - 1, end)
  return {
    work_lost_requests: work.length,
    work_lost_tokens: sum(work),
    work_lost_cost_micro: Math.round(sum(work) * price),
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0)
