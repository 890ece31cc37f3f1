import { choice, costHead, costUnit, countMark, faultList, type Html, html, instantMark, priceMark } from '#lib/html'
import { type Ask, agentSourceKind, type Page } from '#lib/page'
import type { FigureSums } from '#lib/trace'
import { visibleAgent } from '../agents.ts'
import type { AgentRow } from '../tables.ts'
import { agentState, pauseButton, pauseForm } from './buttons.ts'
import { decisionsText, type PageParts, playgroundChoices } from './list.ts'

const MAX_ROWS = 50
const WEEK_MS = 7 * 24 * 3_600_000

/** Agents of requests and of runs: those that are registered, then those that only runs name. */
export const agentListPage = (parts: PageParts): Page => ({
  id: 'sessions/agents',
  path: '/agents',
  nav: { label: 'Agents', order: 35, key: 'a' },
  render: async (ask) => {
    const playground = ask.query.get('playground') ?? ''
    const where = playground === '' ? {} : { playground: playground === 'true' || null }
    const { rows, next_cursor } = await parts.gateway.storage.find('agents', { where, limit: MAX_ROWS })
    const named = (await recentNames(parts)).filter((name) => rows.every(({ id }) => id !== name))
    const others = playground === 'true' ? [] : await unregistered(parts, named.slice(0, MAX_ROWS))
    const used = await usedInWeek(parts, ask, [...rows.map(({ id }) => id), ...others])
    const main = html`<div data-live="*"><h1>Agents</h1>${faultList(ask.refused?.faults ?? [])}${pauseForm(parts.gateway, ask)}
<form class="filters" action="/agents" role="search"><label>Playground${choice('playground', playground, playgroundChoices)}</label><button>Search</button></form>
${rows.length + others.length === 0 ? html`<p class="empty">No agent has come by yet. An agent is known once a request, a run or an MCP session names it.</p>` : table(parts, ask, rows, others, used)}
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

/** What agents did in the last seven days, and when they were last seen, by their names. */
type Used = ReadonlyMap<string, { readonly sums: FigureSums | undefined; readonly last_seen_at: number | undefined }>

const usedInWeek = async ({ gateway }: PageParts, { now }: Ask, names: readonly string[]): Promise<Used> => {
  const query = { since: now - WEEK_MS, until: now + 1, step: 'day', group: 'agent' } as const
  const week = await gateway.service('figures').get()?.read(query)
  const sums = new Map(week?.series.map(({ group, totals }) => [group, totals]))
  const sessions = await Promise.all(
    names.map((agent_id) => gateway.storage.find('sessions', { where: { agent_id }, limit: 1 })),
  )
  return new Map(
    names.map((name, at) => [name, { sums: sums.get(name), last_seen_at: sessions[at]?.rows[0]?.last_seen_at }]),
  )
}

const table = (
  parts: PageParts,
  ask: Ask,
  rows: readonly AgentRow[],
  others: readonly string[],
  used: Used,
): Html => html`<table class="list rows stacks"><thead><tr><th scope="col" class="free">Agent</th><th scope="col">Project</th><th scope="col">Last seen</th><th scope="col" class="figure">Requests in 7 days</th><th scope="col" class="figure">Tokens</th><th scope="col" class="figure">${costHead(parts.gateway)}</th><th scope="col">Decisions</th><th scope="col" class="figure">Keys</th><th scope="col">State</th><th scope="col"><span class="hidden-label">Act</span></th></tr></thead><tbody>
${rows.map(
  (
    row,
  ) => html`<tr id="agent-${row.id}" data-row><th scope="row">${agentLink(row.id)}${row.name !== null && html` <span class="quiet">${row.name}</span>`}${row.playground === true && html` <em>Playground</em>`}</th>
<td>${row.project_id}</td>${usedCells(parts, ask, used.get(row.id))}<td class="figure">${parts.keys.of(row.id).length}<span class="unit"> keys</span></td><td>${agentState(row)}</td><td class="act">${pauseButton('agents', visibleAgent(row))}</td></tr>
`,
)}${others.map(
  (
    name,
  ) => html`<tr data-row><th scope="row">${agentLink(name)} <span class="quiet">named by runs</span></th><td></td>${usedCells(parts, ask, used.get(name))}<td></td><td></td><td></td></tr>
`,
)}</tbody></table>`

const usedCells = ({ gateway }: PageParts, { now }: Ask, used: ReturnType<Used['get']>): Html => {
  const seen = html`<td>${used?.last_seen_at === undefined ? html`<span class="quiet">–</span>` : instantMark(used.last_seen_at, now)}</td>`
  const sums = used?.sums
  if (sums === undefined) return html`${seen}<td></td><td></td><td></td><td></td>`
  return html`${seen}<td class="figure">${countMark(sums.requests)}<span class="unit"> requests</span></td><td class="figure">${countMark(sums.total_tokens)}<span class="unit"> tokens</span></td><td class="figure">${priceMark(sums.cost_micro)}<span class="unit"> ${costUnit(gateway)}</span></td><td>${decisionsText(sums)}</td>`
}

/** An agent, as a link to its page. */
export const agentLink = (agent: string): Html =>
  html`<a href="/agents/${encodeURIComponent(agent)}"><bdi>${agent}</bdi></a>`
