import type { Gateway, Mode, Rule } from 'guard-gateway/core'
import type { Calendar } from '../budgets/calendar.ts'
import { policyOf } from '../policy.ts'
import { replayed } from './replayed.ts'
import type { Simulation, SimulationRange } from './simulation.ts'
import { type Left, storedSessions } from './stored.ts'
import { sweep } from './sweep.ts'
import { Totals } from './totals.ts'

export type { FlaggedSession, NotSimulated, RuleTotal, Simulation, SimulationRange } from './simulation.ts'

/** Rules to be tried on what a project did. */
export interface SimulationAsked extends SimulationRange {
  readonly project_id: string
  readonly rules: readonly Rule[]
  readonly mode: Mode
}

/** Says what rules would have done to the stored sessions of a project, when, and what was spent after it. Periods are those of the calendar given. Nothing is changed. */
export const simulate = async (gateway: Gateway, calendar: Calendar, asked: SimulationAsked): Promise<Simulation> => {
  const { project_id, rules, mode, ...range } = asked
  const policy = policyOf({ project_id, version: 0, source: 'stored', mode, rules }, gateway.detectors)
  const totals = new Totals(policy, mode)
  const left: Left = { truncated: false }
  const swept = await sweep(gateway.storage, calendar, policy, project_id, range.until)
  for await (const stored of storedSessions(gateway, project_id, range, left)) {
    if (stored.records.length > 0)
      totals.add(stored.session.id, [...replayed(stored, policy, gateway.fault, swept)], range.since ?? 0)
  }
  return {
    project_id,
    mode,
    sessions: totals.sessions,
    requests: totals.requests,
    truncated: left.truncated,
    flagged: totals.flagged,
    rules: totals.rules(),
    not_simulated: totals.notSimulated(),
  }
}
