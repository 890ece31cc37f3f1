import type { Gateway } from 'guard-gateway/core'
import { formKind, pageKind } from 'guard-gateway/lib/page'
import type { Administration } from '../administration.ts'
import type { Runs } from '../runs.ts'
import { cancelForm, startForm } from './forms.ts'
import { runPage } from './run.ts'
import { scenariosPage } from './scenarios.ts'

/** What the pages serve from. */
export interface PageParts {
  readonly gateway: Gateway
  readonly runs: Runs
  readonly administration: Administration
}

/** Adds the pages of the Playground, and their forms. */
export const addPages = (parts: PageParts): void => {
  const { gateway } = parts
  gateway.registry(pageKind).add(scenariosPage(gateway))
  gateway.registry(pageKind).add(runPage(parts))
  gateway.registry(formKind).add(startForm(parts))
  gateway.registry(formKind).add(cancelForm(parts))
}
