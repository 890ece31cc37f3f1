import { type Table, table } from 'guard-gateway/core'
import { callColumns } from 'guard-gateway/lib/trace'
import { hourTables } from './figures/tables.ts'
import { flagTable } from './flags/tables.ts'

/** One row per guarded request, with its decision. */
const calls = table({
  id: 'calls',
  ...callColumns,
  indexes: [['session_id', 'recorded'], ['received_at'], ['trace_id', 'recorded']],
  sparse: [['response_id']],
})

/** Events of a session other than requests: pauses, resumes, changes. Other features add rows. */
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
    attributes: 'json',
  },
  indexes: [['session_id', 'recorded']],
  exact: ['id', 'session_id', 'project_id', 'agent_id', 'name', 'severity', 'request_id'],
})

export const tables: readonly Table[] = [calls, sessionEvents, ...hourTables, flagTable]
