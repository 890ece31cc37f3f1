import { type Approver, type Gateway, GuardError, type Session, type SessionRow } from 'guard-gateway/core'
import { approverField } from '#lib/approver'
import { byRemainingShare } from '#lib/budget'
import { costHead, countMark, faultList, type Html, html, instantMark, priceMark } from '#lib/html'
import { shortId } from '#lib/ids'
import {
  type Ask,
  agentSourceKind,
  type FieldFault,
  type Form,
  formKind,
  type Markup,
  type Page,
  type Panel,
  type Posted,
  pageKind,
  panelKind,
  type SearchHit,
  type SearchSource,
  type Sent,
  searchSourceKind,
  type WaitingSource,
  waitingSourceKind,
} from '#lib/page'
import { budgetTable, stateField, stateToken } from '#lib/terminal'
import { type Agents, visibleAgent } from '../agents.ts'
import { sessionErrors } from '../error-codes.ts'
import type { LiveSessions } from '../live.ts'
import { changeSession, endSession, pauseSession, resumeSession } from '../pause.ts'
import { foundSessions, liveById, sessionsSince, waitingSessions } from '../queries.ts'
import type { AgentRow } from '../tables.ts'
import { agentListPage } from './agent-list.ts'
import { budgetsOf } from './budgets.ts'
import { agentState, nameMark, pauseButton, pauseForm } from './buttons.ts'
import { detailPage } from './detail.ts'
import { expensivePanel } from './expensive.ts'
import { decisionsText, listPage, type PageParts, sessionTable } from './list.ts'

/** Adds the pages of sessions and agents, and their forms. */
export const addPages = (parts: PageParts): void => {
  const { gateway, live, agents } = parts
  gateway.registry(pageKind).add(listPage(parts))
  gateway.registry(pageKind).add(detailPage(parts))
  gateway.registry(pageKind).add(agentListPage(parts))
  gateway.registry(pageKind).add(agentPage(parts))
  gateway.registry(waitingSourceKind).add(pausedSource(parts))
  gateway.registry(panelKind).add(expensivePanel(parts))
  gateway.registry(panelKind).add(recentPanel(parts))
  gateway.registry(searchSourceKind).add(sessionSource(parts))
  for (const form of [...sessionForms(gateway, live), ...agentForms(gateway, agents)])
    gateway.registry(formKind).add(form)
}

const RECENT_MS = 15 * 60_000
const MAX_ROWS = 10

/** The sessions that are at work, each with what it used of its budget and the button that stops it. */
const recentPanel = ({ gateway, live }: PageParts): Panel => ({
  id: 'sessions/lately',
  order: 30,
  render: async (ask) => {
    const active = await sessionsSince(gateway, live, ask.now - RECENT_MS)
    if (active.rows.length === 0) return undefined
    const rows = active.rows.slice(0, MAX_ROWS)
    const budgets = await budgetsOf(gateway, rows)
    return html`<h2>Sessions of the last 15 minutes (${active.rows.length}${active.more && ' or more'})</h2>${pauseForm(gateway, ask)}
${sessionTable(gateway, ask, rows, budgets)}
${active.rows.length > MAX_ROWS && html`<p><a href="/sessions">All sessions</a></p>`}`
  },
})

const MAX_LISTED = 10

/** The sessions that are paused, each with why, and the buttons that let it continue or end it. Those of the Playground wait for nobody. */
const pausedSource = ({ gateway }: PageParts): WaitingSource => ({
  id: 'sessions/paused',
  order: 20,
  waiting: async (ask) => {
    const { rows, more } = await waitingSessions(gateway, MAX_LISTED)
    const lines = rows.map((row) => pausedLine(ask, row, gateway.approver))
    const note = more ? { note: html`<a href="/sessions?paused=true">All paused sessions</a>` } : {}
    return { lines, total: lines.length, ...note }
  },
})

const pausedLine = ({ now, url }: Ask, row: SessionRow, approver: Approver): Html => {
  const { id, name, external_id, project_id, paused_at, pause_reason } = row
  const path = `/ui/sessions/${encodeURIComponent(id)}`
  const back = html`<input type="hidden" name="return_to" value="${url}">${stateField(row)}`
  const title = name ?? (external_id === null ? shortId(id) : nameMark(external_id))
  return html`<li class="need" id="waiting-${id}" data-row data-gone="let go or ended elsewhere"><span class="warning status"><span aria-hidden="true">■</span> paused</span>
<span class="who"><a href="/sessions/${encodeURIComponent(id)}">${title}</a> <span class="quiet">· ${nameMark(project_id)}</span></span>
<span class="why">${pause_reason ?? html`<span class="quiet">Paused by hand, without a reason.</span>`} <span class="quiet">· since ${paused_at !== null && instantMark(paused_at, now)}</span></span>
<span class="acts"><form class="inline" method="post" action="${path}/resume">${back}${approverField(approver, undefined)}<button class="main" aria-label="Resume session ${id}">Resume</button></form>
<form class="inline" method="post" action="${path}/end">${back}<button class="grave" aria-label="End session ${id}">End</button></form></span></li>`
}

const MAX_HITS = 10

/** Finds sessions by id, client's id and name, agents by id, name and the id of a key, and projects. */
const sessionSource = ({ gateway, live, agents, keys }: PageParts): SearchSource => ({
  id: 'sessions',
  order: 20,
  takes: 'ids and names of sessions, also those of clients, and of agents, ids of keys and projects',
  find: async (text) => {
    const { storage } = gateway
    const find = (where: Partial<Record<'external_id' | 'name' | 'project_id', string>>, limit = MAX_HITS) =>
      storage.find('sessions', { where, limit })
    const [session, byExternal, byName, agent, agentsByName, key, ofProject] = await Promise.all([
      live.find(text),
      find({ external_id: text }),
      find({ name: text }),
      agents.row(text),
      storage.find('agents', { where: { name: text }, limit: MAX_HITS }),
      storage.get('agent_keys', text),
      find({ project_id: text }, 1),
    ])
    const begun = live.known({ external_id: text }).map(({ row }) => row)
    const rows = [...(session === undefined ? [] : [session.row]), ...byExternal.rows, ...begun, ...byName.rows]
    return [
      ...rows.map(sessionHit),
      ...[...(agent === undefined ? [] : [agent]), ...agentsByName.rows].map(agentHit),
      ...(key === undefined
        ? []
        : [
            keyHit(
              key.id,
              key.agent_id,
              keys.of(key.agent_id).some(({ id }) => id === text),
            ),
          ]),
      ...ofProject.rows.map(({ project_id }) => projectHit(project_id)),
    ]
  },
})

const sessionHit = ({ id, name, external_id, project_id }: SessionRow): SearchHit => ({
  kind: 'session',
  title: name ?? external_id ?? id,
  url: `/sessions/${encodeURIComponent(id)}`,
  note: `${id} in ${project_id}`,
})

const agentHit = ({ id, name }: AgentRow): SearchHit => ({
  kind: 'agent',
  title: id,
  url: `/agents/${encodeURIComponent(id)}`,
  ...(name === null ? {} : { note: name }),
})

const keyHit = (id: string, agent_id: string, isLive: boolean): SearchHit => ({
  kind: 'key of an agent',
  title: id,
  url: `/agents/${encodeURIComponent(agent_id)}#key-${id}`,
  note: isLive ? `of ${agent_id}` : `of ${agent_id}, revoked`,
})

const projectHit = (project_id: string): SearchHit => ({
  kind: 'project',
  title: project_id,
  url: `/sessions?project_id=${encodeURIComponent(project_id)}`,
  note: 'its sessions',
})

const MAX_CHARS = 200

const notices = {
  'session-paused': 'Session paused. Nothing of it is forwarded until it is resumed.',
  'session-resumed': 'Session resumed. Loop rules are reset; budgets keep what is used.',
  'session-ended': 'Session ended. Nothing of it is forwarded any more.',
  'session-renamed': 'Name saved.',
} as const

/** The forms of a session: pause, resume, end, rename. */
const sessionForms = (gateway: Gateway, live: LiveSessions): readonly Form[] => {
  const form = (
    name: string,
    field: string | undefined,
    notice: keyof typeof notices,
    act: (session: Session, text: string | null) => Promise<void>,
  ): Form => ({
    id: `sessions/${name}`,
    path: `/ui/sessions/:id/${name}`,
    page: '/sessions/:id',
    notices,
    submit: async ({ params, fields, now }: Posted) => {
      const text = field === undefined ? null : fields.get(field)?.trim() || null
      const fault = tooLong(field, text) ?? resumeFault(gateway, name, fields)
      if (fault !== undefined) return { faults: [fault] }
      const session = await liveById(gateway, live, params.id ?? '')
      const stale = staleForm(name, `Session ${session.row.id}`, session.row, fields, now)
      if (stale !== undefined) return stale
      await act(session, text)
      return { notice, at: `session-${session.row.id}` }
    },
  })
  return [
    form('pause', 'reason', 'session-paused', (session, reason) => pauseSession(gateway, session, reason)),
    form('resume', undefined, 'session-resumed', (session) => resumeSession(gateway, session)),
    form('end', undefined, 'session-ended', (session) => endSession(gateway, session)),
    form('name', 'name', 'session-renamed', (session, name) =>
      changeSession(gateway, session, { name: name === null ? null : gateway.redact.text(name) }, 'session.updated'),
    ),
  ]
}

const tooLong = (field: string | undefined, text: string | null): FieldFault | undefined =>
  text !== null && text.length > MAX_CHARS
    ? { field: field ?? '', message: `${text.length} characters are too many; ${MAX_CHARS} may be given.` }
    : undefined

/** To pause anybody may; to let continue takes the approver key, where one is set. */
const resumeFault = ({ approver }: Gateway, act: string, fields: URLSearchParams): FieldFault | undefined =>
  act === 'resume' ? approver.faultIn(fields) : undefined

/** The forms of an agent: pause and resume. */
const agentForms = (gateway: Gateway, agents: Agents): readonly Form[] =>
  (['pause', 'resume'] as const).map((act) => ({
    id: `agents/${act}`,
    path: `/ui/agents/:id/${act}`,
    page: '/agents',
    notices: {
      'agent-paused': 'Agent paused. Nothing of it is forwarded until it is resumed.',
      'agent-resumed': 'Agent resumed.',
    },
    submit: async ({ params, fields, now }: Posted) => {
      const fault = resumeFault(gateway, act, fields)
      if (fault !== undefined) return { faults: [fault] }
      const agent = await agents.need(params.id ?? '')
      const stale = staleForm(act, `Agent ${agent.id}`, visibleAgent(agent), fields, now)
      if (stale !== undefined) return stale
      await agents.setPaused(agent, act === 'pause')
      return { notice: `agent-${act}d`, at: `agent-${params.id}` }
    },
  }))

/** A session or agent whose state a form has shown. */
type PausableRow = Parameters<typeof stateToken>[0]

/** The answer to a form that would resume or end a session whose state has changed since it was rendered; undefined: the state is the same, or the form has none. To pause twice is harmless. */
const staleForm = (
  act: string,
  what: string,
  row: PausableRow,
  fields: URLSearchParams,
  now: number,
): Sent | undefined => {
  const displayed = fields.get('shown')
  if ((act !== 'resume' && act !== 'end') || displayed === null || displayed === stateToken(row)) return undefined
  const main = html`<h1>Not what was shown</h1><p>${what} is ${stateText(stateToken(row), now)}; the page showed it as ${stateText(displayed, now)}. Nothing is changed.</p><p><a href="/sessions">Look at the sessions as they are now</a></p>`
  return { view: { title: 'Not what was shown · Sessions', main, status: 409 } }
}

const stateText = (state: string, now: number) => {
  const [word, at] = state.split(' ', 2)
  const since = Number(at)
  return html`${word === 'paused' || word === 'ended' ? word : 'open'}${Number.isSafeInteger(since) && since > 0 && html` since ${instantMark(since, now)}`}`
}

const MAX_SESSIONS = 10

/** One agent: what it used, what is left of its budgets, its sessions, runs and keys. Throws AGENT_NOT_FOUND. */
const agentPage = (parts: PageParts): Page => ({
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
  const budgets = await budgetsOf(gateway, rows)
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
  isIncluded: (order: number) => boolean,
): Promise<readonly Markup[]> => {
  const sources = [...gateway.registry(agentSourceKind)]
    .filter(({ order }) => isIncluded(order))
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
