import type { Gateway } from 'guard-gateway/core'
import type { Imports } from '../import/imports.ts'
import type { Retention } from '../maintenance/retention.ts'
import type { RunCache } from '../read/run-cache.ts'
import type { RunWriter } from '../write/run-writer.ts'
import { comparePage } from './compare.ts'
import { runForms } from './forms.ts'
import { importPage } from './import.ts'
import { listPage } from './list.ts'
import { runPage } from './run.ts'

/** What the pages serve from. */
export interface PageParts {
  readonly gateway: Gateway
  readonly imports: Imports
  readonly runWriter: RunWriter
  readonly cache: RunCache
  readonly retention: Retention
}

/** Adds the pages of Replay and their forms. */
export const addPages = ({ gateway, imports, runWriter, cache, retention }: PageParts): void => {
  gateway.pages.add(listPage(gateway, retention))
  gateway.pages.add(importPage(gateway, imports.max_bytes))
  gateway.pages.add(comparePage(gateway, cache))
  gateway.pages.add(runPage(gateway, cache))
  for (const form of runForms(gateway, runWriter)) gateway.forms.add(form)
}
