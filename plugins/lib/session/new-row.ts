import type { SessionRow } from 'guard-gateway/core'

/** The project of requests that name none, and the one whose policy holds for every project that has none of its own. */
export const DEFAULT_PROJECT = 'default'

/** What a new session starts with beside its id. */
export type SessionStart = Pick<
  SessionRow,
  'project_id' | 'agent_id' | 'external_id' | 'external_source' | 'client'
> & {
  readonly at: number
  /** Absent: not of the Playground. */
  readonly playground?: boolean
}

/** A session of which nothing has been seen yet. */
export const newSessionRow = (id: string, beginning: SessionStart): SessionRow => ({
  id,
  project_id: beginning.project_id,
  agent_id: beginning.agent_id,
  external_id: beginning.external_id,
  external_source: beginning.external_source,
  name: null,
  metadata: {},
  client: beginning.client,
  paused: false,
  paused_at: null,
  pause_reason: null,
  ended_at: null,
  resumed_at: null,
  seen_tips: [],
  requests: 0,
  flagged: 0,
  blocked: 0,
  errors: 0,
  input_tokens: 0,
  output_tokens: 0,
  total_tokens: 0,
  cache_read_tokens: 0,
  cost_micro: 0,
  playground: beginning.playground === true ? true : null,
  version: null,
  flagged_at: null,
  flagged_rule_id: null,
  flagged_reason: null,
  flagged_action: null,
  requests_since_flag: 0,
  tokens_since_flag: 0,
  cost_since_flag_micro: 0,
  created_at: beginning.at,
  last_seen_at: beginning.at,
})
