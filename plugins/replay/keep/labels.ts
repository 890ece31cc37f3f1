import type { RunLabels } from 'guard-gateway/core'

/** Whose a run is once somebody has joined it: what was said of it stands, and an agent is that of its session. */
export const labelsWith = (run: RunLabels, { session_id, agent_id }: RunLabels): RunLabels =>
  run.session_id !== null && run.session_id !== session_id ? run : { session_id, agent_id: run.agent_id ?? agent_id }
