import { html } from 'guard-gateway/lib/html'
import type { Panel } from 'guard-gateway/lib/page'
import { PLAYGROUND_UPSTREAM } from 'guard-gateway/lib/trace'
import { auditTable } from './decisions.ts'
import type { PageParts } from './index.ts'

const DAY_MS = 86_400_000
/** A look costs the same however much is on record. */
const MAX_EVENTS = 200
const MAX_REFUSED = 5

/** The calls of tools recently that were not simply allowed. */
export const refusedPanel = ({ mcp }: PageParts): Panel => ({
  id: 'mcp/refused',
  order: 45,
  render: async (ask) => {
    const { rows } = await mcp.gateway.storage.find('mcp_audit', { order: ['at', 'desc'], limit: MAX_EVENTS })
    const refused = rows.filter(
      ({ kind, action, at, transport }) =>
        kind === 'decision' && action !== 'allow' && at >= ask.now - DAY_MS && transport !== PLAYGROUND_UPSTREAM,
    )
    if (refused.length === 0) return undefined
    return html`<h2>Tool calls that were not simply allowed, last 24 hours</h2>
${auditTable(ask, refused.slice(0, MAX_REFUSED))}
${refused.length > MAX_REFUSED && html`<p><a href="/mcp#decisions">All decisions about tool calls</a></p>`}`
  },
})
