import { type Table, table } from 'guard-gateway/core'
import { callColumns } from 'guard-gateway/lib/trace'

/** One row a guarded request, its decision in the session's history included. */
const calls = table({
  id: 'calls',
  ...callColumns,
  indexes: [['session_id', 'recorded'], ['received_at'], ['trace_id', 'recorded']],
  sparse: [['response_id']],
})

/** What happened to a session beside its requests: pauses, resumes and changes. Other features put their own rows here. */
const sessionEvents = table({
  id: 'session_events',
  columns: {
    id: 'text',
    session_id: 'text',
    project_id: 'text',
    agent_id: 'text',
    name: 'text',
    at: 'integer',
    severity: 'text',
    request_id: 'text',
    decision: 'text',
    attributes: 'json',
  },
  indexes: [['session_id', 'recorded']],
  exact: ['id', 'session_id', 'project_id', 'agent_id', 'name', 'severity', 'request_id', 'decision'],
})

export const tables: readonly Table[] = [calls, sessionEvents]
