/** What is on record of a judged call of a tool, as far as its trace is read from it. Times are milliseconds since 1970. */
export interface ToolRecord {
  /** `aud_…`. */
  readonly id: string
  readonly at: number
  readonly trace_id: string | null
  readonly span_id: string | null
  readonly parent_span_id: string | null
  readonly project_id: string | null
  /** The MCP session. */
  readonly session_id: string | null
  readonly server_id: string | null
  readonly transport: string | null
  readonly protocol_version: string | null
  readonly request_id: string | null
  readonly tool: string | null
  readonly argument_hash: string | null
  /** What the policy said. */
  readonly action: string | null
  readonly reason_code: string | null
  readonly reason: string | null
  /** What happened. */
  readonly forwarded: boolean | null
  readonly mode: string | null
  readonly rule_ids: readonly string[] | null
  readonly approval_id: string | null
  readonly policy_version: string | null
  /** Null while a forwarded call has no answer; `none` for one that was not forwarded. */
  readonly outcome: string | null
  readonly duration_us: number | null
  /** The span and the event of the call are read from this record; there are no rows of theirs. */
  readonly traced: boolean | null
  /** The id that the model gave the call. */
  readonly tool_call_id: string | null
}

declare module 'guard-gateway/core' {
  interface ToolRecording {
    readonly record: ToolRecord
    /** Rejects if it could not be written. */
    readonly written: Promise<unknown>
  }
}
