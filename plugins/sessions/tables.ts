import { type Table, table } from 'guard-gateway/core'

/** Where an agent is paused: in every project but these, or in these alone. */
export interface PausedIn {
  readonly everywhere: boolean
  readonly projects: readonly string[]
}

/** An agent as stored. Times are milliseconds since 1970. */
export interface AgentRow {
  readonly id: string
  readonly name: string | null
  /** The project of requests that name none. */
  readonly project_id: string | null
  readonly metadata: Readonly<Record<string, unknown>>
  /** `api`: registered by hand; `request`: seen in a header first. */
  readonly registered_by: 'api' | 'request'
  /** Requests of the Playground named it first. Null: not. */
  readonly playground: true | null
  /** Somewhere. */
  paused: boolean
  /** Null: nowhere. */
  paused_in: PausedIn | null
  paused_at: number | null
  readonly created_at: number
}

/** A project in which an agent has worked: calls of it, requests that no rule judges, or calls of tools. */
export interface AgentProjectRow {
  readonly agent_id: string
  readonly project_id: string
  readonly created_at: number
}

/** A key of an agent as stored: its SHA-256 in hex and what is shown of it, never the key. Times are milliseconds since 1970. */
export interface AgentKeyRow {
  readonly id: string
  readonly agent_id: string
  readonly hash: string
  /** The first characters. */
  readonly prefix: string
  readonly created_at: number
  /** To the minute. */
  last_used_at: number | null
  readonly revoked_at: number | null
}

declare module 'guard-gateway/core' {
  interface Tables {
    agents: AgentRow
    agent_keys: AgentKeyRow
    agent_projects: AgentProjectRow
  }
}

const sessions = table<'sessions'>({
  id: 'sessions',
  columns: {
    id: 'text',
    project_id: 'text',
    agent_id: 'text',
    external_id: 'text',
    external_source: 'text',
    name: 'text',
    metadata: 'json',
    client: 'text',
    paused: 'boolean',
    paused_at: 'integer',
    pause_reason: 'text',
    ended_at: 'integer',
    resumed_at: 'integer',
    seen_tips: 'json',
    requests: 'integer',
    flagged: 'integer',
    blocked: 'integer',
    errors: 'integer',
    input_tokens: 'integer',
    output_tokens: 'integer',
    total_tokens: 'integer',
    cache_read_tokens: 'integer',
    cost_micro: 'integer',
    playground: 'boolean',
    version: 'integer',
    flagged_at: 'integer',
    flagged_rule_id: 'text',
    flagged_reason: 'text',
    flagged_action: 'text',
    requests_since_flag: 'integer',
    tokens_since_flag: 'integer',
    cost_since_flag_micro: 'integer',
    created_at: 'integer',
    last_seen_at: 'integer',
  },
  indexes: [
    ['project_id', 'recorded'],
    ['external_id', 'recorded'],
  ],
  sparse: [['agent_id'], ['paused_at'], ['flagged_at'], ['flagged_rule_id']],
  exact: [
    'id',
    'project_id',
    'agent_id',
    'external_id',
    'external_source',
    'seen_tips',
    'flagged_rule_id',
    'flagged_reason',
    'flagged_action',
  ],
})

const agents = table<'agents'>({
  id: 'agents',
  columns: {
    id: 'text',
    name: 'text',
    project_id: 'text',
    metadata: 'json',
    registered_by: 'text',
    playground: 'boolean',
    paused: 'boolean',
    paused_in: 'json',
    paused_at: 'integer',
    created_at: 'integer',
  },
  exact: ['id', 'project_id', 'registered_by', 'paused_in'],
})

const agentProjects = table<'agent_projects'>({
  id: 'agent_projects',
  key: ['agent_id', 'project_id'],
  columns: { agent_id: 'text', project_id: 'text', created_at: 'integer' },
  exact: ['agent_id', 'project_id'],
})

const agentKeys = table<'agent_keys'>({
  id: 'agent_keys',
  columns: {
    id: 'text',
    agent_id: 'text',
    hash: 'text',
    prefix: 'text',
    created_at: 'integer',
    last_used_at: 'integer',
    revoked_at: 'integer',
  },
  indexes: [
    ['agent_id', 'recorded'],
    ['revoked_at', 'recorded'],
  ],
  unique: [['hash']],
  exact: ['id', 'agent_id', 'hash', 'prefix'],
})

/** Everything this feature stores. */
export const tables: readonly Table[] = [sessions, agents, agentProjects, agentKeys]
