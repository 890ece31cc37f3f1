import type { Gateway, Mode, Rule } from 'guard-gateway/core'
import type { Calendar } from '#lib/time'
import { policyOf } from '../policy.ts'
import { replayProjects } from './project-replay.ts'
import { projectsUnder } from './projects.ts'
import { reEvaluated } from './re-evaluate.ts'
import type { Simulation, SimulationRange } from './simulation.ts'
import { storedSessions, type Truncation } from './stored-sessions.ts'
import { Totals } from './totals.ts'

export type { FlaggedSession, NotSimulated, RuleTotal, Simulation, SimulationRange } from './simulation.ts'

/** Rules to be tried on what a project did. */
export interface SimulationRequest extends SimulationRange {
  readonly project_id: string
  readonly rules: readonly Rule[]
  readonly mode: Mode
}

/** Says what rules would have done to the stored sessions of a project, and with `default` of all that have no policy of their own, when, and what was spent after it. Periods are those of the calendar given. Nothing is changed. */
export const simulate = async (
  gateway: Gateway,
  calendar: Calendar,
  request: SimulationRequest,
): Promise<Simulation> => {
  const { project_id, rules, mode, ...range } = request
  const policy = policyOf({ project_id, version: 0, mode, rules }, gateway.detectors)
  const totals = new Totals(policy, mode)
  const truncation: Truncation = { truncated: false }
  const projects = await projectsUnder(gateway, project_id)
  const evidence = await replayProjects(gateway.storage, calendar, policy, projects, range.until)
  for await (const stored of storedSessions(gateway, projects, range, truncation)) {
    if (stored.records.length > 0)
      totals.add(stored.session.id, [...reEvaluated(stored, policy, gateway.fault, evidence)], range.since ?? 0)
  }
  return {
    project_id,
    mode,
    sessions: totals.sessions,
    requests: totals.requests,
    truncated: truncation.truncated,
    flagged: totals.flagged,
    rules: totals.rules(),
    not_simulated: totals.notSimulated(),
  }
}
