import type { Approver } from '../approvals/index.ts'
import type { Mcp } from '../mcp.ts'

/** What the page serves from. */
export interface PageParts {
  readonly mcp: Mcp
  readonly approver: Approver
}
