import { type Html, html, instantMark } from 'guard-gateway/lib/html'
import type { Ask } from 'guard-gateway/lib/page'
import { pauseButton, pausedMark } from './buttons.ts'
import type { PageParts } from './index.ts'

const MAX_ROWS = 20

/** The agents with their keys, of which only the beginning is known. */
export const agentSection = async ({ gateway, keys }: PageParts, { now }: Ask): Promise<Html> => {
  const { rows, next_cursor } = await gateway.storage.find('agents', { limit: MAX_ROWS })
  if (rows.length === 0) return html``
  return html`<h2 id="agents">Agents</h2>
<table class="list rows stacks"><thead><tr><th scope="col" class="free">Agent</th><th scope="col">Project</th><th scope="col">Known since</th><th scope="col">Keys</th><th scope="col">State</th><th scope="col"><span class="hidden-label">Act</span></th></tr></thead><tbody>
${rows.map(
  (
    row,
  ) => html`<tr id="agent-${row.id}"><th scope="row"><a href="/sessions?agent_id=${encodeURIComponent(row.id)}">${row.id}</a>${row.name !== null && html` <span class="quiet">${row.name}</span>`}</th>
<td>${row.project_id}</td><td>${instantMark(row.created_at, now)}</td>
<td>${keyList(keys.of(row.id).map(({ prefix }) => prefix))}</td>
<td>${pausedMark(row.paused)}</td><td class="act">${pauseButton('agents', row)}</td></tr>
`,
)}</tbody></table>
${next_cursor !== null && html`<p class="quiet">The newest ${MAX_ROWS}; all of them are at <code>GET /api/agents</code>.</p>`}`
}

const keyList = (prefixes: readonly string[]): Html =>
  prefixes.length === 0
    ? html`<span class="quiet">none</span>`
    : html`${prefixes.map((prefix, at) => html`${at > 0 && ', '}<code class="status">${prefix}…</code>`)}`
