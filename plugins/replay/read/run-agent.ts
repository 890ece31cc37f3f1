import type { Run } from '#lib/trace'

/** The agent of a run: the gateway and MCP write its id, programs and OTLP senders mostly a name. */
export const agentOf = ({ agent_id, agent_name }: Pick<Run, 'agent_id' | 'agent_name'>): string | null =>
  agent_id ?? agent_name
