import type { Gateway, SessionRow } from 'guard-gateway/core'
import {
  costHead,
  costUnit,
  countMark,
  decisionMark,
  type Html,
  html,
  instantMark,
  pageUrl,
  priceMark,
} from '#lib/html'
import {
  type AgentSource,
  type Ask,
  agentSourceKind,
  type Charts,
  type Panel,
  panelKind,
  type SearchHit,
  type SearchSource,
  searchSourceKind,
  waitingSourceKind,
} from '#lib/page'
import {
  type CallRecord,
  type Figures,
  type FlagGroupTotal,
  type FlagReport,
  isPlayground,
  type RuleReport,
} from '#lib/trace'
import { readFlagReport } from '../flags/read-report.ts'
import { sessionsOf } from '../flags/report.ts'
import { AT_MOST, blockedText, savedText } from '../flags/words.ts'
import { flaggedSource } from './flagged-lines.ts'
import { agentLink, reasonLink, replayLink, sessionLink } from './links.ts'
import { spendPanel } from './spend.ts'

/** Adds the panels of the start page and of agents, what of sessions waits for a person, and what finds requests. */
export const addPanels = (gateway: Gateway, figures: Figures): void => {
  const charts = chartsOf(gateway, figures)
  gateway.service('charts').provide(charts)
  for (const panel of [
    chartPanel(charts),
    loopCostPanel(gateway),
    flaggedPanel(gateway),
    spendPanel(gateway, figures),
    latestPanel(gateway),
  ])
    gateway.registry(panelKind).add(panel)
  gateway.registry(agentSourceKind).add(agentCharts(gateway, charts))
  gateway.registry(waitingSourceKind).add(flaggedSource(gateway))
  gateway.registry(searchSourceKind).add(requestSource(gateway))
}

const MAX_LATEST = 5
/** Requests of the Playground between the others are passed over. */
const MAX_READ = 50

/** The latest requests. */
const latestPanel = (gateway: Gateway): Panel => ({
  id: 'recorder/latest',
  order: 40,
  render: async (ask) => {
    const { rows } = await gateway.storage.find('calls', { limit: MAX_READ })
    const calls = rows.filter((call) => !isPlayground(call)).slice(0, MAX_LATEST)
    if (calls.length === 0) return undefined
    return html`<h2>Latest requests</h2>
<table class="list rows stacks"><thead><tr><th scope="col">Time</th><th scope="col">Decision</th><th scope="col" class="free">Model</th><th scope="col">Session</th><th scope="col" class="first-spare">Project</th><th scope="col">Outcome</th><th scope="col" class="figure">Tokens</th><th scope="col">Replay</th></tr></thead><tbody>
${calls.map((call) => {
  const { id, received_at, decision, model_requested, session_id, project_id, outcome, total_tokens } = call
  return html`<tr id="call-${id}" data-row><td>${instantMark(received_at, ask.now)}</td><td>${decisionMark(decision)}</td><th scope="row">${model_requested}</th><td>${session_id !== null && sessionLink(session_id)}</td><td class="first-spare">${project_id}</td><td>${outcome}</td><td class="figure">${countMark(total_tokens)}<span class="unit"> tokens</span></td><td>${replayLink(call, 'Show')}</td></tr>
`
})}</tbody></table>`
  },
})

const DAY_MS = 86_400_000
const MAX_ROWS = 10

/** What was flagged and blocked in the last 24 hours, a line for each session and reason. */
const flaggedPanel = (gateway: Gateway): Panel => ({
  id: 'recorder/flagged',
  order: 14,
  render: async (ask) => {
    const { storage } = gateway
    const { groups } = await readFlagReport(storage, { since: ask.now - DAY_MS, until: ask.now + 1 })
    const spoken = groups.filter(({ flagged, blocked }) => flagged + blocked > 0)
    if (spoken.length === 0) {
      if ((await storage.find('calls', { limit: 1 })).rows.length === 0) return undefined
      return html`<h2 id="flagged">Flagged and blocked</h2><p class="quiet">Nothing in the last 24 hours. No rule matched.</p>`
    }
    const latest = spoken.toSorted((one, other) => other.last_hour_at - one.last_hour_at).slice(0, MAX_ROWS)
    const rows = await sessionsOf(gateway, latest)
    return html`<h2 id="flagged">Flagged and blocked, last 24 hours (${spoken.length})</h2>
<table class="list rows stacks"><thead><tr><th scope="col">Last seen</th><th scope="col" class="free">Session</th><th scope="col" class="first-spare">Project</th><th scope="col">Agent</th><th scope="col">Reason</th><th scope="col">Requests</th><th scope="col" class="figure">Tokens after it</th><th scope="col" class="figure">${costHead(gateway, 'Cost after it')}</th></tr></thead><tbody>
${latest.map((group) => groupRow(gateway, ask, group, rows.get(group.session_id)))}</tbody></table>
${spoken.length > MAX_ROWS && html`<p><a href="/replay?failure_tag=any&amp;since=24h">All runs that failed, were flagged or blocked</a></p>`}`
  },
})

const groupRow = (gateway: Gateway, { now }: Ask, group: FlagGroupTotal, row: SessionRow | undefined): Html => {
  const { session_id, project_id, rule_id, reason, flagged, blocked, blocked_retries } = group
  const blocks = blocked + blocked_retries
  return html`<tr id="flagged-${session_id}-${rule_id ?? reason}" data-row><td>${instantMark(row?.last_seen_at ?? group.last_hour_at, now)}</td>
<th scope="row">${sessionLink(session_id, row)}</th><td class="first-spare">${project_id}</td><td>${agentLink(row?.agent_id ?? null)}</td><td>${reasonLink(project_id, rule_id, reason)}</td>
<td>${blocks > 0 && html`<span class="error status">blocked × ${countMark(blocks)}</span>`}${blocks > 0 && flagged > 0 && ', '}${flagged > 0 && html`<span class="warning status">flagged × ${countMark(flagged)}</span>`}</td>
<td class="figure">${group.tokens_since_flag > 0 && html`${countMark(group.tokens_since_flag)}<span class="unit"> tokens after it</span>`}</td><td class="figure">${group.cost_since_flag_micro > 0 && html`${priceMark(group.cost_since_flag_micro)}<span class="unit"> ${costUnit(gateway)}</span>`}</td></tr>
`
}

const REQUEST = 'guardreq_'
const EVENT = 'evt_'
const SPAN_ID = /^[0-9a-f]{16}$/
const MAX_HITS = 10

/** Finds recorded requests by the ids that the gateway and the provider gave them. */
const requestSource = (gateway: Gateway): SearchSource => ({
  id: 'recorder/requests',
  order: 10,
  takes: 'ids of requests, their decisions, replies and spans',
  find: async (text) => {
    const request = await requestOf(gateway.storage, text)
    if (request !== undefined) return [requestHit(request)]
    if (text.startsWith(REQUEST) || text.startsWith(EVENT)) return []
    const where = SPAN_ID.test(text) ? { span_id: text } : { response_id: text }
    const { rows } = await gateway.storage.find('calls', { where, limit: MAX_HITS })
    return rows.map(requestHit)
  },
})

const requestOf = async (storage: Gateway['storage'], text: string): Promise<CallRecord | undefined> => {
  if (text.startsWith(REQUEST)) return storage.get('calls', text)
  if (text.startsWith(EVENT)) return storage.get('calls', REQUEST + text.slice(EVENT.length))
  return undefined
}

/** A request is shown by its span in Replay; one without a run by its session. */
const requestHit = ({ id, session_id, trace_id, span_id, model_requested, decision }: CallRecord): SearchHit => ({
  kind: 'request',
  title: id,
  url: spanPath(trace_id, span_id) ?? `/sessions/${encodeURIComponent(session_id ?? '')}#call-${id}`,
  note: `${model_requested}, ${decision ?? 'refused'}`,
})

const spanPath = (trace_id: string | null, span_id: string | null): string | undefined => {
  if (trace_id === null) return undefined
  const run = `/replay/${encodeURIComponent(trace_id)}`
  const span = span_id === null ? '' : encodeURIComponent(span_id)
  return span === '' ? run : `${run}?span=${span}#span-${span}`
}

const WEEK_MS = 7 * 86_400_000
const MAX_RULES = 6
const MAX_PROJECTS = 3

/** What loops cost in the last seven days, by rule, and the way to stop it. */
const loopCostPanel = (gateway: Gateway): Panel => ({
  id: 'recorder/loop-cost',
  order: 5,
  render: async ({ now }) => {
    const report = await readFlagReport(gateway.storage, { since: now - WEEK_MS, until: now + 1 })
    const rules = report.rules.filter(({ rule_id, requests_since_flag }) => rule_id !== null || requests_since_flag > 0)
    if (rules.length === 0) return undefined
    const { saved } = report
    const blocked = blockedText(report)
    return html`<h2 id="loop-cost">What loops cost</h2>
<p class="figures"><strong>${savedText(saved, costUnit(gateway), 'in the last 7 days')}</strong>${blocked !== '' && html` ${blocked}`}${saved.requests_since_flag > 0 && html` <span class="quiet">${AT_MOST}</span>`}</p>
${saved.requests_since_flag > 0 && switchLinks(report)}
${ruleTable(gateway, rules)}`
  },
})

/** In shadow: the page of each project that would save most, with its rules tried in enforce mode on what is stored. */
const switchLinks = ({ projects }: FlagReport): Html =>
  html`<p class="buttons">${projects.slice(0, MAX_PROJECTS).map(({ project_id }) => html`<a class="button" href="/policies/${encodeURIComponent(project_id)}?try=enforce">Enforce ${project_id}…</a> `)}<span class="quiet">First shows what its rules would have stopped, with possible false alarms; nothing changes before you save.</span></p>`

const ruleTable = (gateway: Gateway, rules: readonly RuleReport[]): Html =>
  html`<table class="list rows stacks"><thead><tr><th scope="col" class="free">Rule</th><th scope="col" class="figure">Sessions</th><th scope="col" class="figure">Flagged</th><th scope="col" class="figure">Blocked</th><th scope="col" class="figure">Requests since the flag</th><th scope="col" class="figure first-spare">Tokens</th><th scope="col" class="figure">${costHead(gateway)}</th></tr></thead><tbody>
${rules.slice(0, MAX_RULES).map((rule) => ruleRow(gateway, rule))}</tbody></table>
${rules.length > MAX_RULES && html`<p class="quiet">${rules.length - MAX_RULES} more rules: <code>${gateway.calledAs.here} report</code></p>`}`

const ruleRow = (gateway: Gateway, rule: RuleReport): Html => {
  const { rule_id, reason, action, sessions, flagged, blocked, blocked_retries } = rule
  const name = rule_id ?? reason ?? 'no rule'
  return html`<tr id="cost-${name}-${action}"><th scope="row">${rule_id === null ? name : html`<a href="${pageUrl('/sessions', { rule_id })}">${name}</a>`} <span class="quiet">${rule_id !== null && reason}${actionText(rule)}</span></th><td class="figure">${countMark(sessions)}<span class="unit"> sessions</span></td><td class="figure">${countMark(flagged)}<span class="unit"> flagged</span></td><td class="figure">${countMark(blocked + blocked_retries)}<span class="unit"> blocked</span></td><td class="figure">${countMark(rule.requests_since_flag)}<span class="unit"> requests since</span></td><td class="figure first-spare">${countMark(rule.tokens_since_flag)}<span class="unit"> tokens</span></td><td class="figure">${priceMark(rule.cost_since_flag_micro)}<span class="unit"> ${costUnit(gateway)}</span></td></tr>
`
}

/** What its rule does beside flagging, where that is not to block. */
const actionText = ({ action, would_refuse, blocked }: RuleReport): string => {
  if (action === 'pause') return ', pauses'
  return would_refuse || blocked > 0 ? '' : ', only flags: enforcing changes nothing'
}

/** Charts of these figures. What draws them is loaded with the first. */
const chartsOf = (gateway: Gateway, figures: Figures): Charts => ({
  strip: async (options) => {
    const { rows } = await gateway.storage.find('calls', { limit: 1 })
    if (rows.length === 0) return undefined
    const { strip } = await import('../chart/strip.ts')
    return strip(figures, costUnit(gateway), options)
  },
})

/** Requests over time. */
const chartPanel = (charts: Charts): Panel => ({
  id: 'recorder/charts',
  order: -10,
  render: (ask) => charts.strip({ ask }),
})

/** Requests of an agent over time, if it has a session. */
const agentCharts = (gateway: Gateway, charts: Charts): AgentSource => ({
  id: 'recorder/charts',
  order: -10,
  recent: async () => [],
  section: async (agent, ask) => {
    const { rows } = await gateway.storage.find('sessions', { where: { agent_id: agent }, limit: 1 })
    return rows.length === 0 ? undefined : charts.strip({ ask, agent_id: agent })
  },
})
