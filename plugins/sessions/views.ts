import type { SessionRow } from 'guard-gateway/core'
import type { Static } from 'typebox'
import { visibleAgent } from './agents.ts'
import type { agentSchema, sessionSchema } from './schemas.ts'
import type { AgentKeyRow, AgentRow } from './tables.ts'

/** All input of a session: what runs and figures call input as well. */
export const totalInput = ({
  total_tokens,
  output_tokens,
}: Pick<SessionRow, 'total_tokens' | 'output_tokens'>): number => Math.max(0, total_tokens - output_tokens)

/** A session for people and programs: its detection marks left out, its times as RFC 3339 in UTC. */
export const sessionView = ({ seen_tips: _marks, ...row }: SessionRow): Static<typeof sessionSchema> => ({
  ...row,
  total_input_tokens: totalInput(row),
  cached_input_tokens: row.cache_read_tokens,
  paused_at: timeOrNull(row.paused_at),
  ended_at: timeOrNull(row.ended_at),
  resumed_at: timeOrNull(row.resumed_at),
  playground: row.playground === true,
  flagged_at: timeOrNull(row.flagged_at),
  created_at: time(row.created_at),
  last_seen_at: time(row.last_seen_at),
})

/** An agent with its live keys, of which only the prefix is shown. */
export const agentView = (row: AgentRow, keys: readonly AgentKeyRow[]): Static<typeof agentSchema> => {
  const agent = visibleAgent(row)
  return {
    ...agent,
    playground: row.playground === true,
    paused_in: agent.paused_in && { ...agent.paused_in, projects: [...agent.paused_in.projects] },
    paused_at: timeOrNull(agent.paused_at),
    created_at: time(row.created_at),
    keys: keys.map(keyView),
  }
}

const keyView = ({ id, prefix, created_at, last_used_at }: AgentKeyRow) => ({
  id,
  prefix,
  created_at: time(created_at),
  last_used_at: timeOrNull(last_used_at),
})

const time = (at: number): string => new Date(at).toISOString()
const timeOrNull = (at: number | null): string | null => (at === null ? null : time(at))
