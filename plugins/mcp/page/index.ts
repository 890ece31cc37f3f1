import { formKind, pageKind, panelKind, searchSourceKind, waitingSourceKind } from 'guard-gateway/lib/page'
import type { Approver } from '../approvals/index.ts'
import type { Mcp } from '../mcp.ts'
import { approvalSource } from './approval-line.ts'
import { approvalPage } from './approval-page.ts'
import { draftPage } from './draft-page.ts'
import { approvalForm, pinsForm, undoForm } from './forms.ts'
import { mcpPage } from './mcp-page.ts'
import { refusedPanel } from './panels.ts'
import { ruleForm, rulePage } from './rule-page.ts'
import { mcpSource } from './search.ts'

/** What the page serves from. */
export interface PageParts {
  readonly mcp: Mcp
  readonly approver: Approver
}

/** Adds the page of the MCP proxy, and its forms. */
export const addPages = (parts: PageParts): void => {
  const { gateway } = parts.mcp
  gateway.registry(pageKind).add(mcpPage(parts))
  gateway.registry(pageKind).add(approvalPage(parts))
  gateway.registry(pageKind).add(rulePage(parts))
  gateway.registry(pageKind).add(draftPage(parts))
  gateway.registry(waitingSourceKind).add(approvalSource(parts))
  gateway.registry(panelKind).add(refusedPanel(parts))
  gateway.registry(searchSourceKind).add(mcpSource(parts))
  gateway.registry(formKind).add(approvalForm(parts))
  gateway.registry(formKind).add(undoForm(parts))
  gateway.registry(formKind).add(pinsForm(parts))
  gateway.registry(formKind).add(ruleForm(parts))
}
