import { faultList, type Html, html, instantMark } from 'guard-gateway/lib/html'
import { type Ask, agentSourceKind, type Page } from 'guard-gateway/lib/page'
import type { AgentRow } from '../tables.ts'
import { pauseButton, pausedMark, pauseForm } from './buttons.ts'
import type { PageParts } from './index.ts'

const MAX_ROWS = 50

/** Agents of requests and of runs: those that are registered, then those that only runs name. */
export const agentListPage = (parts: PageParts): Page => ({
  id: 'sessions/agents',
  path: '/agents',
  nav: { label: 'Agents', order: 35, key: 'a' },
  render: async (ask) => {
    const { rows, next_cursor } = await parts.gateway.storage.find('agents', { limit: MAX_ROWS })
    const named = (await recentNames(parts)).filter((name) => rows.every(({ id }) => id !== name))
    const others = await unregistered(parts, named.slice(0, MAX_ROWS))
    const main = html`<div data-live="*"><h1>Agents</h1>${faultList(ask.refused?.faults ?? [])}${pauseForm(parts.gateway, ask)}
${rows.length + others.length === 0 ? html`<p class="empty">No agent has come by yet. An agent is known once a request, a run or an MCP session names it.</p>` : table(parts, ask, rows, others)}
${next_cursor !== null && html`<p class="quiet">The newest ${MAX_ROWS} that are registered; all of them are at <code>GET /api/agents</code>.</p>`}</div>`
    return { title: 'Agents', main }
  },
})

/** Names of agents that features saw lately; a feature that fails is left out. */
const recentNames = async ({ gateway }: PageParts): Promise<readonly string[]> => {
  const found = await Promise.all(
    [...gateway.registry(agentSourceKind)].map((source) =>
      source.recent().catch((error: unknown) => {
        gateway.fault(error, `agents:${source.id}`)
        return []
      }),
    ),
  )
  return [...new Set(found.flat())]
}

/** Names without a row: a registered agent may be older than those of the page. */
const unregistered = async ({ agents }: PageParts, names: readonly string[]): Promise<readonly string[]> => {
  const rows = await Promise.all(names.map((name) => agents.row(name)))
  return names.filter((_, at) => rows[at] === undefined)
}

const table = (
  { keys }: PageParts,
  { now }: Ask,
  rows: readonly AgentRow[],
  others: readonly string[],
): Html => html`<table class="list rows stacks"><thead><tr><th scope="col" class="free">Agent</th><th scope="col">Project</th><th scope="col">Known since</th><th scope="col" class="figure">Keys</th><th scope="col">State</th><th scope="col"><span class="hidden-label">Act</span></th></tr></thead><tbody>
${rows.map(
  (
    row,
  ) => html`<tr id="agent-${row.id}" data-row><th scope="row">${agentLink(row.id)}${row.name !== null && html` <span class="quiet">${row.name}</span>`}</th>
<td>${row.project_id}</td><td>${instantMark(row.created_at, now)}</td><td class="figure">${keys.of(row.id).length}</td><td>${pausedMark(row.paused)}</td><td class="act">${pauseButton('agents', row)}</td></tr>
`,
)}${others.map(
  (
    name,
  ) => html`<tr data-row><th scope="row">${agentLink(name)}</th><td></td><td><span class="quiet">named by runs</span></td><td></td><td></td><td></td></tr>
`,
)}</tbody></table>`

/** An agent, as a link to its page. */
export const agentLink = (agent: string): Html =>
  html`<a href="/agents/${encodeURIComponent(agent)}"><bdi>${agent}</bdi></a>`
