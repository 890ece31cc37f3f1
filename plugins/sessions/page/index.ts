import type { Gateway } from 'guard-gateway/core'
import { formKind, pageKind, panelKind, searchSourceKind, waitingSourceKind } from 'guard-gateway/lib/page'
import type { Agents } from '../agents.ts'
import type { AgentKeys } from '../keys.ts'
import type { LiveSessions } from '../live.ts'
import { agentListPage } from './agent-list.ts'
import { agentPage } from './agent-page.ts'
import { detailPage } from './detail.ts'
import { expensivePanel } from './expensive.ts'
import { agentForms, sessionForms } from './forms.ts'
import { listPage } from './list.ts'
import { pausedSource } from './paused-lines.ts'
import { recentPanel } from './recent.ts'
import { sessionSource } from './search.ts'

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
  gateway.registry(pageKind).add(listPage(parts))
  gateway.registry(pageKind).add(detailPage(parts))
  gateway.registry(pageKind).add(agentListPage(parts))
  gateway.registry(pageKind).add(agentPage(parts))
  gateway.registry(waitingSourceKind).add(pausedSource(parts))
  gateway.registry(panelKind).add(expensivePanel(parts))
  gateway.registry(panelKind).add(recentPanel(parts))
  gateway.registry(searchSourceKind).add(sessionSource(parts))
  for (const form of [...sessionForms(gateway, live), ...agentForms(gateway, agents)])
    gateway.registry(formKind).add(form)
}
