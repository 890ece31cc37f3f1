import type { Approver } from '../approvals/index.ts'
import type { Mcp } from '../mcp.ts'
import { approvalPage } from './approval-page.ts'
import { approvalForm, pinsForm, undoForm } from './forms.ts'
import { mcpPage } from './mcp-page.ts'
import { approvalsPanel, refusedPanel } from './panels.ts'

/** What the page serves from. */
export interface PageParts {
  readonly mcp: Mcp
  readonly approver: Approver
}

/** Adds the page of the MCP proxy, and its forms. */
export const addPages = (parts: PageParts): void => {
  const { gateway } = parts.mcp
  gateway.pages.add(mcpPage(parts))
  gateway.pages.add(approvalPage(parts))
  gateway.panels.add(approvalsPanel(parts))
  gateway.panels.add(refusedPanel(parts))
  gateway.forms.add(approvalForm(parts))
  gateway.forms.add(undoForm(parts))
  gateway.forms.add(pinsForm(parts))
}
