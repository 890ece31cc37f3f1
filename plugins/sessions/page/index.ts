import type { Gateway } from 'guard-gateway/core'
import type { Agents } from '../agents.ts'
import type { AgentKeys } from '../keys.ts'
import type { LiveSessions } from '../live.ts'
import { detailPage } from './detail.ts'
import { agentForms, sessionForms } from './forms.ts'
import { latelyPanel } from './lately.ts'
import { listPage } from './list.ts'
import { waitingPanel } from './waiting.ts'

/** What the pages serve from. */
export interface PageParts {
  readonly gateway: Gateway
  readonly live: LiveSessions
  readonly agents: Agents
  readonly keys: AgentKeys
}

/** Adds the pages of sessions and agents, and their forms. */
export const addPages = (parts: PageParts): void => {
  const { gateway, live, agents } = parts
  gateway.pages.add(listPage(parts))
  gateway.pages.add(detailPage(parts))
  gateway.panels.add(waitingPanel(parts))
  gateway.panels.add(latelyPanel(parts))
  for (const form of [...sessionForms(gateway, live), ...agentForms(gateway, agents)]) gateway.forms.add(form)
}
