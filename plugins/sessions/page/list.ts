import { type Gateway, GuardError, type SessionRow } from 'guard-gateway/core'
import {
  choice,
  costHead,
  costUnit,
  countMark,
  cursorLinks,
  faultList,
  type Html,
  html,
  instantMark,
  newRowsMark,
  pageUrl,
  priceMark,
  suggestedValues,
} from '#lib/html'
import { shortId } from '#lib/ids'
import type { Ask, Page } from '#lib/page'
import { RecentNames } from '#lib/trace'
import type { Agents } from '../agents.ts'
import type { AgentKeys } from '../keys.ts'
import type { LiveSessions, SessionOrigin } from '../live.ts'
import { foundSessions, originOf, waitingSessions } from '../queries.ts'
import { type Budgets, budgetMark, budgetsOf, tokensUsed } from './budgets.ts'
import { nameMark, pauseButton, pausedMark, pauseForm, shortName } from './buttons.ts'

const PAGE_ROWS = 50
/** Paused sessions that the navigation counts. */
const MOST_COUNTED = 99

/** Sessions newest first with what they used of their budgets. */
export const listPage = (parts: PageParts): Page => {
  const recent = new RecentNames(() => parts.gateway.service('figures').get())
  return {
    id: 'sessions',
    path: '/sessions',
    nav: {
      label: 'Sessions',
      order: 30,
      key: 's',
      count: async () => (await waitingSessions(parts.gateway, MOST_COUNTED)).rows.length,
    },
    render: async (ask) => {
      const found = await foundSessions(
        parts.gateway,
        parts.live,
        whereOf(ask.query),
        PAGE_ROWS,
        ask.query.get('cursor') || undefined,
      )
      const budgets = await budgetsOf(parts.gateway, found.rows)
      const agents = [...(await recent.of('agent', ask.now)), ...found.rows.flatMap(({ agent_id }) => agent_id ?? [])]
      const projects = [...(await recent.of('project', ask.now)), ...found.rows.map(({ project_id }) => project_id)]
      const main = html`<div data-live="*"><h1>Sessions</h1>${faultList(ask.refused?.faults ?? [])}${pauseForm(parts.gateway, ask)}
${filterForm(ask)}${suggestedValues('agents', [...new Set(agents)])}${suggestedValues('projects', [...new Set(projects)])}
${await newRowsOf(parts.gateway, ask)}${found.rows.length === 0 ? emptyText(parts.gateway, ask) : sessionTable(parts.gateway, ask, found.rows, budgets)}
${cursorLinks(ask, found.next_cursor)}
<p><a href="/agents">Agents</a></p></div>`
      return { title: 'Sessions', main }
    },
  }
}

const filters = ['project_id', 'agent_id', 'external_id', 'rule_id', 'paused', 'playground'] as const

const whereOf = (query: URLSearchParams): SessionOrigin => {
  const text = (name: (typeof filters)[number]) => query.get(name) || undefined
  const named = Object.entries({
    project_id: text('project_id'),
    agent_id: text('agent_id'),
    external_id: text('external_id'),
    rule_id: text('rule_id'),
    paused: flag('paused', text('paused')),
    playground: flag('playground', text('playground')),
  }).filter(([, value]) => value !== undefined)
  return originOf(Object.fromEntries(named))
}

/** On later pages, where script shows the number of new sessions. */
const newRowsOf = async ({ storage }: Gateway, { query }: Ask): Promise<Html | undefined> => {
  if (!query.get('cursor')) return undefined
  const [newest] = (await storage.find('sessions', { where: whereOf(query), limit: 1 })).rows
  const first = pageUrl('/sessions', Object.fromEntries(filters.map((name) => [name, query.get(name)])))
  return newest && newRowsMark(first, `session-${newest.id}`, 'session')
}

const flag = (name: string, text: string | undefined): boolean | undefined => {
  if (text === undefined) return undefined
  if (text === 'true' || text === 'false') return text === 'true'
  throw new GuardError('INVALID_FILTER', `"${name}" must be true or false.`, { path: `/${name}` })
}

/** What a list shows of the Playground. */
export const playgroundChoices = [
  ['', 'shown'],
  ['false', 'left out'],
  ['true', 'alone'],
] as const

const filterForm = ({ query }: Ask): Html => {
  const value = (name: string) => query.get(name) ?? ''
  const narrowed = filters.some((name) => value(name) !== '')
  return html`<form class="filters" action="/sessions" role="search">
<label>Project<input type="search" name="project_id" list="projects" value="${value('project_id')}" size="16" placeholder="all"></label>
<label>Agent<input name="agent_id" list="agents" value="${value('agent_id')}" size="16" placeholder="all"></label>
<label>Client's id<input name="external_id" value="${value('external_id')}" size="24" placeholder="any"></label>
<label>State${choice('paused', value('paused'), [
    ['', 'any'],
    ['true', 'paused'],
    ['false', 'open'],
  ])}</label>
${value('rule_id') !== '' && html`<label>Flagged by<input name="rule_id" value="${value('rule_id')}" size="14"></label>`}
<label>Playground${choice('playground', value('playground'), playgroundChoices)}</label>
<button>Search</button>${narrowed && html` <a class="clear" href="/sessions">Clear</a>`}
</form>`
}

const emptyText = ({ calledAs }: Gateway, { query }: Ask): Html =>
  [...query].some(([, value]) => value !== '')
    ? html`<p class="empty">No session matches. Names and ids are compared whole. <a href="/sessions">Clear the filters</a></p>`
    : html`<div class="empty"><p>No agent has come by yet. Run one through the gateway, or let the Playground send some requests:</p>
${['run -- claude', 'playground run exact-loop'].map((words) => commandMark(`${calledAs.here} ${words}`))}</div>`

const commandMark = (command: string): Html =>
  html`<pre>${command}</pre> <button class="plain" data-copy="${command}">Copy</button>
`

/** Sessions as a table; its buttons belong to the form of `pauseForm`. */
export const sessionTable = (
  gateway: Gateway,
  ask: Ask,
  rows: readonly SessionRow[],
  budgets: ReadonlyMap<string, Budgets>,
): Html => {
  const unit = costUnit(gateway)
  return html`<table class="list rows stacks sessions"><thead><tr><th scope="col">Last seen</th><th scope="col" class="free">Session</th><th scope="col" class="first-spare">Project</th><th scope="col">Agent</th><th scope="col">Requests</th><th scope="col" class="first-spare">Tokens</th><th scope="col" class="figure">${costHead(gateway)}</th><th scope="col">Decisions</th><th scope="col">State</th><th scope="col"><span class="hidden-label">Act</span></th></tr></thead><tbody>
${rows.map((row) => sessionRow(ask, row, budgets.get(row.project_id), unit))}</tbody></table>`
}

const sessionRow = ({ now }: Ask, row: SessionRow, budgets: Budgets | undefined, unit: string): Html => {
  const {
    id,
    name,
    external_id,
    project_id,
    agent_id,
    requests,
    cost_micro,
    last_seen_at,
    paused,
    ended_at,
    pause_reason,
  } = row
  return html`<tr id="session-${id}" data-row><td>${instantMark(last_seen_at, now)}</td>
<th scope="row"><a href="/sessions/${encodeURIComponent(id)}">${name ?? (external_id === null ? shortId(id) : nameMark(external_id))}</a>${row.playground === true && html` <em>Playground</em>`}</th>
<td class="first-spare">${nameMark(project_id)}</td><td>${agent_id !== null && html`<a href="/agents/${encodeURIComponent(agent_id)}">${shortName(agent_id)}</a>`}</td>
<td>${budgetMark(row, 'Requests', requests, budgets?.requests)}</td>
<td class="first-spare">${budgetMark(row, 'Tokens', tokensUsed(row, budgets?.tokens), budgets?.tokens)}</td>
<td class="figure">${priceMark(cost_micro)}<span class="unit"> ${unit}</span></td>
<td>${decisionsText(row)}</td><td>${pausedMark(paused, ended_at)}${pause_reason !== null && html`<br><span class="quiet">${pause_reason}</span>`}</td><td class="act">${pauseButton('sessions', row)}</td></tr>
`
}

/** How many requests were flagged, blocked or failed; only what happened is named. */
export const decisionsText = ({
  flagged,
  blocked,
  errors,
}: Pick<SessionRow, 'flagged' | 'blocked' | 'errors'>): Html => {
  const parts = [
    blocked > 0 && html`<span class="error status">${countMark(blocked)} blocked</span>`,
    flagged > 0 && html`<span class="warning status">${countMark(flagged)} flagged</span>`,
    errors > 0 && html`<span class="status">${countMark(errors)} failed</span>`,
  ].filter((part) => part !== false)
  if (parts.length === 0) return html`<span class="quiet">none</span>`
  return html`${parts.map((part, at) => html`${at > 0 && ', '}${part}`)}`
}

/** What the pages serve from. */
export interface PageParts {
  readonly gateway: Gateway
  readonly live: LiveSessions
  readonly agents: Agents
  readonly keys: AgentKeys
}
