import { playgroundProject } from '#lib/trace'
import type { Scenario } from './scenario.ts'

/** Whom the requests of a run say they are from. */
export interface Names {
  readonly project_id: string
  readonly agent_id: string
  /** The session as its client names it. */
  readonly external_id: string
}

/** Names of a run: its own session, and its own agent where the scenario pauses it, so that no run can stop another. */
export const namesOf = (scenario: Scenario, runId: string): Names => ({
  project_id: playgroundProject(scenario.id),
  agent_id: scenario.steps.some((step) => 'target' in step && step.target === 'agent')
    ? `playground-${runId}`
    : 'playground',
  external_id: `playground-${runId}`,
})
