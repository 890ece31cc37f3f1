import type { Gateway } from 'guard-gateway/core'
import type { Imports } from '../import/imports.ts'
import type { Keeper } from '../keep/keeper.ts'
import type { RunCache } from '../read/run-cache.ts'
import type { Retention } from '../upkeep/retention.ts'
import { comparePage } from './compare.ts'
import { runForms } from './forms.ts'
import { importPage } from './import.ts'
import { listPage } from './list.ts'
import { runPage } from './run.ts'

/** What the pages serve from. */
export interface PageParts {
  readonly gateway: Gateway
  readonly imports: Imports
  readonly keeper: Keeper
  readonly cache: RunCache
  readonly retention: Retention
}

/** Adds the pages of Replay and their forms. */
export const addPages = ({ gateway, imports, keeper, cache, retention }: PageParts): void => {
  gateway.pages.add(listPage(gateway, retention))
  gateway.pages.add(importPage(gateway, imports.max_bytes))
  gateway.pages.add(comparePage(gateway, cache))
  gateway.pages.add(runPage(gateway, cache))
  for (const form of runForms(gateway, keeper)) gateway.forms.add(form)
}
