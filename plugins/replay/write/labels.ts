import type { RunLabels } from 'guard-gateway/core'

/** Session and agent of a run that a call joins. Existing labels stay; an agent is taken only from the same session. */
export const labelsWith = (run: RunLabels, { session_id, agent_id }: RunLabels): RunLabels =>
  run.session_id !== null && run.session_id !== session_id ? run : { session_id, agent_id: run.agent_id ?? agent_id }
