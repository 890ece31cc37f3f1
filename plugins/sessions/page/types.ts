import type { Gateway } from 'guard-gateway/core'
import type { Agents } from '../agents.ts'
import type { AgentKeys } from '../keys.ts'
import type { LiveSessions } from '../live.ts'

/** What the pages serve from. */
export interface PageParts {
  readonly gateway: Gateway
  readonly live: LiveSessions
  readonly agents: Agents
  readonly keys: AgentKeys
}
