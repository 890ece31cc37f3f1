import type { FragmentRun, Origin } from 'guard-gateway/core'
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

/** What the end of a call adds to its record. */
export type End = Pick<AuditRow, 'outcome' | 'duration_ms' | 'duration_us' | 'result_bytes'> &
  Partial<Pick<AuditRow, 'result_findings'>>

/** A forwarded call whose records are written in batches. */
export class BatchedCall {
  readonly origin: Origin
  readonly run: FragmentRun
  /** Settles when the decision is durable, or cannot be. */
  readonly written = Promise.withResolvers<void>()
  readonly row: AuditRow
  end: End | undefined
  /** Its run shows that the call runs. */
  isAnnounced = false

  constructor(origin: Origin, run: FragmentRun, row: AuditRow) {
    this.origin = origin
    this.run = run
    this.row = row
  }
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
