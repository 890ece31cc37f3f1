import type { Gateway, Mode, Rule } from 'guard-gateway/core'
import { formKind, pageKind, panelKind, searchSourceKind } from 'guard-gateway/lib/page'
import type { RemainingContext } from '../budgets/remaining.ts'
import type { Policies } from '../policies.ts'
import { budgetPanel } from './budget-panel.ts'
import { detailPage } from './detail.ts'
import { Drafts } from './drafts.ts'
import { policyForm } from './form.ts'
import { listPage } from './list.ts'
import { policySource } from './search.ts'

/** What the pages serve from. */
export interface PageParts {
  readonly gateway: Gateway
  readonly policies: Policies
  readonly drafts: Drafts
  readonly presets: Readonly<Record<string, readonly Rule[]>>
  /** What knowing what is left of budgets needs. */
  readonly left: RemainingContext
  /** Mode where neither a request nor its project's policy says one. */
  default_mode(): Mode
}

/** Adds the pages of policies, and their form. */
export const addPages = (given: Omit<PageParts, 'drafts'>): void => {
  const parts = { ...given, drafts: new Drafts() }
  const { gateway } = parts
  gateway.registry(pageKind).add(listPage(parts))
  gateway.registry(pageKind).add(detailPage(parts))
  gateway.registry(formKind).add(policyForm(parts))
  gateway.registry(panelKind).add(budgetPanel(parts.left))
  gateway.registry(searchSourceKind).add(policySource(parts))
}
