import type { Gateway, Mode, Rule } from 'guard-gateway/core'
import type { RemainingContext } from '../budgets/remaining.ts'
import type { Policies } from '../policies.ts'
import type { Drafts } from './drafts.ts'

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
