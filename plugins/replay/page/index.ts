import type { Gateway } from 'guard-gateway/core'
import { agentSourceKind, formKind, pageKind, searchSourceKind, sessionSourceKind } from 'guard-gateway/lib/page'
import type { Imports } from '../import/imports.ts'
import type { Retention } from '../maintenance/retention.ts'
import { RecentUses } from '../read/recent-use.ts'
import type { RunCache } from '../read/run-cache.ts'
import type { RunWriter } from '../write/run-writer.ts'
import { agentRuns } from './agent-source.ts'
import { comparePage } from './compare/compare-page.ts'
import { runForms } from './forms.ts'
import { importPage } from './import.ts'
import { listPage } from './list.ts'
import { runPage } from './run.ts'
import { runSource } from './search-source.ts'
import { agentUse, sessionUse } from './use/use-section.ts'

export interface PageParts {
  readonly gateway: Gateway
  readonly imports: Imports
  readonly runWriter: RunWriter
  readonly cache: RunCache
  readonly retention: Retention
}

/** Adds the pages of Replay and their forms. */
export const addPages = ({ gateway, imports, runWriter, cache, retention }: PageParts): void => {
  gateway.registry(pageKind).add(listPage(gateway, retention))
  gateway.registry(pageKind).add(importPage(gateway, imports.max_bytes))
  gateway.registry(pageKind).add(comparePage(gateway, cache))
  gateway.registry(pageKind).add(runPage(gateway, cache))
  gateway.registry(agentSourceKind).add(agentRuns(gateway))
  const uses = new RecentUses(() => gateway.storage)
  gateway.registry(agentSourceKind).add(agentUse(gateway, uses))
  gateway.registry(sessionSourceKind).add(sessionUse(gateway, uses))
  gateway.registry(searchSourceKind).add(runSource(gateway))
  for (const form of runForms(gateway, runWriter)) gateway.registry(formKind).add(form)
}
