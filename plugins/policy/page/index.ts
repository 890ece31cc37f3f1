import type { Gateway, Mode, Rule } from 'guard-gateway/core'
import type { LeftParts } from '../budgets/left.ts'
import type { Policies } from '../policies.ts'
import { detailPage } from './detail.ts'
import { Drafts } from './drafts.ts'
import { policyForm } from './form.ts'
import { leftPanel } from './left-panel.ts'
import { listPage } from './list.ts'

/** What the pages serve from. */
export interface PageParts {
  readonly gateway: Gateway
  readonly policies: Policies
  readonly drafts: Drafts
  readonly presets: Readonly<Record<string, readonly Rule[]>>
  /** What knowing what is left of budgets needs. */
  readonly left: LeftParts
  /** Mode where neither a request nor its project's policy says one. */
  default_mode(): Mode
}

/** Adds the pages of policies, and their form. */
export const addPages = (given: Omit<PageParts, 'drafts'>): void => {
  const parts = { ...given, drafts: new Drafts() }
  const { gateway } = parts
  gateway.pages.add(listPage(parts))
  gateway.pages.add(detailPage(parts))
  gateway.forms.add(policyForm(parts))
  gateway.panels.add(leftPanel(parts.left))
}
