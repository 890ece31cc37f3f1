import { type ErrorBody, type Mode, type Table, table } from 'guard-gateway/core'
import type { Outcome } from './scenario.ts'

/** `failed`: a step could not be run at all; `completed` says nothing about whether expectations were met. */
export type RunStatus = 'queued' | 'running' | 'completed' | 'failed' | 'cancelled'

/** What came of one step. */
export interface StepResult {
  /** 1 is the first. */
  readonly index: number
  readonly what: string
  readonly do: string
  readonly decision: string | null
  readonly reason: string | null
  /** What the MCP policy said of a call. */
  readonly action: string | null
  /** The MCP call went to its server; null for what is no call. */
  readonly forwarded: boolean | null
  /** Null for a step of the MCP proxy. */
  readonly http_status: number | null
  readonly rule_id: string | null
  readonly request_id: string | null
  /** The question that an MCP call asked, or that was decided. */
  readonly approval_id: string | null
  /** Where the step is in Replay. */
  readonly trace_id: string | null
  readonly span_id: string | null
  /** Id of the earlier blocked request on whose record this one is counted. */
  readonly repeats: string | null
  /** How the exchange ended on record. */
  readonly outcome: string | null
  readonly total_tokens: number | null
  /** The client's answer broke off. */
  readonly broken: boolean
  readonly expected: Outcome
  readonly matched: boolean
  /** Which expectations were not met. */
  readonly missed: readonly string[]
  readonly duration_ms: number
}

/** A run as stored. Times are milliseconds since 1970. */
export interface PlaygroundRun {
  readonly id: string
  readonly scenario_id: string
  readonly mode: Mode
  /** Null: the scenario's requests have their own. */
  readonly style: string | null
  /** Wait between steps. */
  readonly pace_ms: number
  readonly status: RunStatus
  /** Every step met its expectation; null until all have run. */
  readonly matched: boolean | null
  readonly step_count: number
  readonly steps_done: number
  readonly steps: readonly StepResult[]
  readonly error: Pick<ErrorBody, 'code' | 'message'> | null
  readonly project_id: string
  readonly agent_id: string
  /** Null until the first request of a model. */
  readonly session_id: string | null
  /** The process that performs it, as `writer` of `guard-gateway/lib/ids` names it. */
  readonly process: string
  readonly created_at: number
  readonly started_at: number | null
  readonly ended_at: number | null
}

declare module 'guard-gateway/core' {
  interface Tables {
    playground_runs: PlaygroundRun
  }
}

/** Everything this feature stores. */
export const runsTable: Table = table<'playground_runs'>({
  id: 'playground_runs',
  columns: {
    id: 'text',
    scenario_id: 'text',
    mode: 'text',
    style: 'text',
    pace_ms: 'integer',
    status: 'text',
    matched: 'boolean',
    step_count: 'integer',
    steps_done: 'integer',
    steps: 'json',
    error: 'json',
    project_id: 'text',
    agent_id: 'text',
    session_id: 'text',
    process: 'text',
    created_at: 'integer',
    started_at: 'integer',
    ended_at: 'integer',
  },
  indexes: [
    ['scenario_id', 'recorded'],
    ['status', 'recorded'],
  ],
  exact: ['id', 'scenario_id', 'mode', 'style', 'status', 'project_id', 'agent_id', 'session_id', 'process'],
})
