import { type Html, html } from '#lib/html'
import type { Ask } from '#lib/page'
import { type ApprovalRow, currentState, textsById } from '../approvals/index.ts'
import type { Mcp } from '../mcp.ts'
import { type DisplayedArguments, questionCard } from './approval-card.ts'
import type { PageParts } from './types.ts'

/** The cost of a view does not grow with the number of approvals. */
const MAX_COUNTED = 500
const MAX_CARDS = 50
/** Arguments are shown to their end as long as those of one call and of a page have no more characters; a page of its own shows longer ones. */
const MAX_PER_SESSION = 16_384
const MAX_PAGE_CHARS = 65_536

/** What waits for a person by now, that which expires first before the others. */
export const pendingApprovals = async ({ gateway, approvals }: Mcp): Promise<readonly ApprovalRow[]> => {
  const { rows } = await gateway.storage.find('mcp_approvals', {
    where: { status: 'pending' },
    order: ['expires_at', 'asc'],
    limit: MAX_COUNTED,
  })
  return rows.filter((row) => currentState(approvals, row).status === 'pending')
}

/** The questions that wait, each with what would be done and the buttons that answer it. */
export const pendingSection = async (parts: PageParts, ask: Ask, waiting: readonly ApprovalRow[]): Promise<Html> => {
  const { approver } = parts
  const rows = waiting.slice(0, MAX_CARDS)
  const displayed = await argumentsOf(parts, rows)
  return html`<h2 id="approvals">Pending approvals${waiting.length > 0 && html` (${waiting.length})`}</h2>
${waiting.length === 0 ? html`<p class="quiet">Nothing waits for a person.</p>` : html`${rows.map((row, at) => questionCard(ask, row, displayed[at] ?? previewOf(row), approver))}`}
${waiting.length > MAX_CARDS && html`<p class="quiet">The ${MAX_CARDS} that expire first; the others follow as these are answered.</p>`}
${!approver.needsKey && waiting.length > 0 && html`<p class="quiet">Any process on this machine can approve, an agent included. Set <code>mcp.approver_key</code> to ask for a key.</p>`}`
}

const previewOf = ({ preview, sent_preview, argument_chars }: ApprovalRow): DisplayedArguments => ({
  arguments: preview,
  sent_arguments: sent_preview,
  ...(argument_chars === null ? {} : { left_out: argument_chars }),
})

/** The arguments of each, whole as far as there is room for them. */
const argumentsOf = ({ mcp: { gateway } }: PageParts, rows: readonly ApprovalRow[]): Promise<DisplayedArguments[]> => {
  let room = MAX_PAGE_CHARS
  return Promise.all(
    rows.map((row) => {
      const { argument_chars } = row
      if (argument_chars === null || argument_chars > Math.min(MAX_PER_SESSION, room)) return previewOf(row)
      room -= argument_chars
      return textsById(gateway, row)
    }),
  )
}
