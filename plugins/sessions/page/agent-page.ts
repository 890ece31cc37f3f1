import { GuardError } from 'guard-gateway/core'
import { byRemainingShare } from 'guard-gateway/lib/budget'
import { costHead, countMark, faultList, type Html, html, instantMark, priceMark } from 'guard-gateway/lib/html'
import { type Ask, agentSourceKind, type Markup, type Page } from 'guard-gateway/lib/page'
import { budgetTable } from 'guard-gateway/lib/terminal'
import { visibleAgent } from '../agents.ts'
import { sessionErrors } from '../error-codes.ts'
import { foundSessions } from '../queries.ts'
import type { AgentRow } from '../tables.ts'
import { budgetsOf } from './budgets.ts'
import { agentState, pauseButton, pauseForm } from './buttons.ts'
import type { PageParts } from './index.ts'
import { decisionsText, sessionTable } from './list.ts'

const MAX_SESSIONS = 10

/** One agent: what it used, what is left of its budgets, its sessions, runs and keys. Throws AGENT_NOT_FOUND. */
export const agentPage = (parts: PageParts): Page => ({
  id: 'sessions/agent',
  path: '/agents/:id',
  render: async (ask) => {
    const id = ask.params.id ?? ''
    const row = await parts.agents.row(id)
    const [sessions, above, below] = await Promise.all([
      sessionSection(parts, ask, id),
      sections(parts, ask, id, (order) => order < 0),
      sections(parts, ask, id, (order) => order >= 0),
    ])
    if (row === undefined && sessions === undefined && above.length + below.length === 0)
      throw new GuardError(sessionErrors.AGENT_NOT_FOUND, `There is no agent "${id}". List them at /agents.`)
    const main = html`<div data-live="*"><div class="head"><h1><bdi>${id}</bdi></h1>${row !== undefined && html`<p>${agentState(row)} ${pauseButton('agents', visibleAgent(row))}</p>`}<p class="acts"><a href="/sessions?agent_id=${encodeURIComponent(id)}">Sessions</a> <a href="/replay?agent=${encodeURIComponent(id)}">Runs in Replay</a></p></div>
${faultList(ask.refused?.faults ?? [])}${row !== undefined && pauseForm(parts.gateway, ask)}
${row !== undefined && facts(ask, row)}
${above}
${sessions}
${below}
${row !== undefined && keySection(parts, ask, id)}</div>`
    return { title: `${id} · Agents`, main }
  },
})

const facts = ({ now }: Ask, { name, project_id, created_at, registered_by }: AgentRow): Html => html`<dl class="facts">
${name !== null && html`<dt>Name</dt><dd>${name}</dd>`}
${project_id !== null && html`<dt>Project</dt><dd><a href="/policies/${encodeURIComponent(project_id)}">${project_id}</a></dd>`}
<dt>Known since</dt><dd>${instantMark(created_at, now)} <span class="quiet">${registered_by === 'api' ? 'registered' : 'seen in a request'}</span></dd>
</dl>`

const TOTALS = ['requests', 'total_tokens', 'cost_micro', 'flagged', 'blocked', 'errors'] as const

/** Totals, budgets and the newest sessions; undefined without a session. */
const sessionSection = async (parts: PageParts, ask: Ask, agent_id: string): Promise<Html | undefined> => {
  const { gateway, live } = parts
  const { rows, next_cursor } = await foundSessions(gateway, live, { agent_id }, MAX_SESSIONS, undefined)
  if (rows.length === 0) return undefined
  const groups = await gateway.storage.sum('sessions', { where: { agent_id }, by: ['project_id'], of: TOTALS })
  const sum = (name: (typeof TOTALS)[number]) => groups.reduce((total, { sums }) => total + sums[name], 0)
  const projects = [
    ...new Set([...groups.map(({ by }) => String(by.project_id)), ...rows.map((row) => row.project_id)]),
  ]
  const budgets = await budgetsOf(
    gateway,
    rows.map(({ project_id }) => project_id),
  )
  return html`<dl class="facts"><dt>Requests</dt><dd>${countMark(sum('requests'))}</dd><dt>Tokens</dt><dd>${countMark(sum('total_tokens'))}</dd><dt>${costHead(gateway)}</dt><dd>${priceMark(sum('cost_micro'))}</dd><dt>Decisions</dt><dd>${decisionsText({ flagged: sum('flagged'), blocked: sum('blocked'), errors: sum('errors') })}</dd></dl>
${await budgetSection(parts, ask, agent_id, projects)}
<h2 id="sessions">Sessions</h2>${sessionTable(gateway, ask, rows, budgets)}
${next_cursor !== null && html`<p><a href="/sessions?agent_id=${encodeURIComponent(agent_id)}">All sessions</a></p>`}`
}

/** What is left of the budgets of the agent, in each project where it has sessions. */
const budgetSection = async (
  { gateway }: PageParts,
  { now }: Ask,
  agent_id: string,
  projects: readonly string[],
): Promise<Html> => {
  const rules = gateway.service('rules').get()
  const found = await Promise.all(projects.map(async (project_id) => (await rules?.budgets({ project_id })) ?? []))
  const own = found.flat().filter((budget) => budget.agent_id === agent_id)
  return own.length === 0 ? html`` : html`<h2 id="budgets">Budgets</h2>${budgetTable(byRemainingShare(own), now)}`
}

/** What other features know of the agent; one that fails is left out and reported. */
const sections = async (
  { gateway }: PageParts,
  ask: Ask,
  agent: string,
  isWanted: (order: number) => boolean,
): Promise<readonly Markup[]> => {
  const sources = [...gateway.registry(agentSourceKind)]
    .filter(({ order }) => isWanted(order))
    .sort((one, other) => one.order - other.order)
  const parts = await Promise.all(
    sources.map((source) =>
      source.section(agent, ask).catch((error: unknown) => {
        gateway.fault(error, `agent:${source.id}`)
        return undefined
      }),
    ),
  )
  return parts.filter((part) => part !== undefined)
}

/** Live keys by id and date; the keys themselves are nowhere. */
const keySection = ({ keys }: PageParts, { now }: Ask, agent: string): Html => {
  const live = keys.of(agent)
  if (live.length === 0) return html`<h2 id="keys-of-agent">Keys</h2><p class="quiet">No live key.</p>`
  return html`<h2 id="keys-of-agent">Keys</h2><table class="list rows stacks"><thead><tr><th scope="col" class="free">Key</th><th scope="col">Made</th><th scope="col">Last used</th></tr></thead><tbody>
${live.map(
  ({ id, created_at, last_used_at }) =>
    html`<tr id="key-${id}" data-row><th scope="row"><code>${id}</code></th><td>${instantMark(created_at, now)}</td><td>${last_used_at === null ? html`<span class="quiet">never</span>` : instantMark(last_used_at, now)}</td></tr>
`,
)}</tbody></table>`
}
