import type { BatchedCall } from './batched-calls.ts'
import type { AuditRow } from './tables.ts'

/** The MCP session that records belong to, and how its run in Replay is labelled. */
export interface AuditSession {
  /** `mcp_…`, the proxy's own. */
  readonly id: string
  readonly server_id: string
  /** `http` or `stdio`: how the client is connected. */
  readonly transport: string
  readonly project_id: string
  readonly agent_id: string | null
  /** The session that the client names in its `x-guard-session-id`, as it is named there. */
  readonly external_session_id: string | null
  /** `mcp` if absent. */
  readonly origin?: 'mcp' | 'playground'
}

/** The ids of a call: of its record, and of its span in Replay. */
export interface Entry {
  /** `aud_…`, of its record. */
  readonly id: string
  /** Arrival, milliseconds since 1970. */
  readonly at: number
  /** Arrival on the monotonic clock, milliseconds. */
  readonly tick: number
  readonly seq: number
  readonly trace_id: string
  readonly span_id: string
  readonly parent_span_id: string | null
  /** The caller named the run; it is not that of the session. */
  readonly joined: boolean
  /** The caller named a run of another project. */
  readonly join_refused: boolean
  /** Its record as it was written, while the call is forwarded and has no outcome. */
  running?: AuditRow | undefined
  /** The same while its records are written in batches. */
  batched?: BatchedCall | undefined
}
