import type { Gateway, Reader, Session, SessionRow } from 'guard-gateway/core'
import { approverField } from '#lib/approver'
import { byRemainingShare } from '#lib/budget'
import {
  costHead,
  costUnit,
  countMark,
  cursorLinks,
  decisionMark,
  faultList,
  type Html,
  html,
  instantMark,
  newRowsMark,
  priceMark,
} from '#lib/html'
import { type Ask, type Markup, type Page, sessionSourceKind } from '#lib/page'
import { isRefusing } from '#lib/session'
import { budgetTable, stateField } from '#lib/terminal'
import type { CallRecord, SessionEvent } from '#lib/trace'
import { liveById } from '../queries.ts'
import { totalInput } from '../views.ts'
import { type Budgets, budgetMark, budgetsOf, tokensUsed } from './budgets.ts'
import { pausedMark } from './buttons.ts'
import { decisionsText, type PageParts } from './list.ts'

/** One session: what it used, what was decided about it, and the ways to stop it. Throws SESSION_NOT_FOUND. */
export const detailPage = ({ gateway, live }: PageParts): Page => ({
  id: 'sessions/session',
  path: '/sessions/:id',
  render: async (ask) => {
    const session = await liveById(gateway, live, ask.params.id ?? '')
    const { row } = session
    const budgets = (await budgetsOf(gateway, [row])).get(row.project_id)
    const title = row.name ?? row.external_id ?? row.id
    const main = html`<div data-live="${row.id}"><div class="head"><h1>${title}</h1><p>${pausedMark(row.paused, row.ended_at)}${row.pause_reason !== null && html` <span class="quiet">${row.pause_reason}</span>`}</p><p class="acts"><a href="/replay?session_id=${encodeURIComponent(row.id)}">Runs in Replay</a> <a href="/api/export/sessions/${encodeURIComponent(row.id)}.json">Export</a></p></div>
${faultList(ask.refused?.faults ?? [])}
${facts(gateway, ask, row, budgets)}
${await widerBudgets(gateway, ask, session)}
${pauseForm(gateway, ask, row)}
${await sections(gateway, ask, row.id)}
${await historySection(gateway, ask, row)}</div>`
    return { title: `${title} · Sessions`, main }
  },
})

/** What other features know of the session; one that fails is left out and reported. */
const sections = async (gateway: Gateway, ask: Ask, id: string): Promise<readonly Markup[]> => {
  const sources = [...gateway.registry(sessionSourceKind)].sort((one, other) => one.order - other.order)
  const parts = await Promise.all(
    sources.map((source) =>
      source.section(id, ask).catch((error: unknown) => {
        gateway.fault(error, `session:${source.id}`)
        return undefined
      }),
    ),
  )
  return parts.filter((part) => part !== undefined)
}

/** What came since the flag. */
const sinceFlag = (gateway: Gateway, now: number, row: SessionRow): Html => {
  const { flagged_at, flagged_rule_id, flagged_reason, flagged_action } = row
  if (flagged_at === null) return html``
  const would = isRefusing(flagged_action) ? 'Enforced, it would have been refused.' : 'Its rule only flags.'
  return html`<dt>After the flag</dt><dd>${countMark(row.requests_since_flag)} of ${countMark(row.requests)} requests, ${priceMark(row.cost_since_flag_micro)} of ${priceMark(row.cost_micro)} ${costUnit(gateway)}, ${countMark(row.tokens_since_flag)} tokens <span class="quiet">since ${instantMark(flagged_at, now)}, ${flagged_rule_id ?? flagged_reason}. ${would}</span></dd>`
}

const facts = (
  gateway: Gateway,
  { now }: Ask,
  row: SessionRow,
  budgets: Budgets | undefined,
): Html => html`<dl class="facts">
<dt>Session</dt><dd><code>${row.id}</code> <button class="plain" data-copy="${row.id}">Copy</button></dd>
${row.external_id !== null && html`<dt>Client's id</dt><dd><code>${row.external_id}</code> <span class="quiet">from ${row.external_source}</span></dd>`}
<dt>Project</dt><dd><a href="/policies/${encodeURIComponent(row.project_id)}">${row.project_id}</a></dd>
${row.agent_id !== null && html`<dt>Agent</dt><dd><a href="/agents/${encodeURIComponent(row.agent_id)}">${row.agent_id}</a></dd>`}
${row.client !== '' && html`<dt>Client</dt><dd>${row.client}</dd>`}
<dt>Requests</dt><dd>${budgetMark(row, 'Requests', row.requests, budgets?.requests, true)}</dd>
<dt>Tokens</dt><dd>${budgetMark(row, 'Tokens', tokensUsed(row, budgets?.tokens), budgets?.tokens, true)} <span class="quiet">${countMark(totalInput(row))} in${row.cache_read_tokens > 0 && html` (${countMark(row.cache_read_tokens)} cached)`}, ${countMark(row.output_tokens)} out</span></dd>
<dt>${costHead(gateway)}</dt><dd>${priceMark(row.cost_micro)}</dd>
${sinceFlag(gateway, now, row)}
<dt>Decisions</dt><dd>${decisionsText(row)}</dd>
<dt>Active</dt><dd>${instantMark(row.created_at, now)} to ${instantMark(row.last_seen_at, now)}${row.resumed_at !== null && html`, resumed ${instantMark(row.resumed_at, now)}`}</dd>
</dl>`

/** What is left of what the session shares with others of its agent and its project. */
const widerBudgets = async (gateway: Gateway, { now }: Ask, session: Session): Promise<Html> => {
  const budgets = (await gateway.service('rules').get()?.budgets({ session }))?.filter(({ per }) => per !== null) ?? []
  return budgets.length === 0 ? html`` : html`<h2>Budgets it shares</h2>${budgetTable(byRemainingShare(budgets), now)}`
}

const pauseForm = ({ approver }: Gateway, { refused, url }: Ask, row: SessionRow): Html => {
  const path = `/ui/sessions/${encodeURIComponent(row.id)}`
  const typed = (form: string, name: string, known: string) =>
    refused?.form === form
      ? html` value="${refused.fields.get(name)}" aria-invalid="true"`
      : known !== '' && html` value="${known}"`
  const back = html`<input type="hidden" name="return_to" value="${url}">${stateField(row)}`
  const key = approverField(approver, refused?.faults)
  const pause = row.paused
    ? html`<form class="filters" method="post" action="${path}/resume">${back}${key}<button class="main">Resume this session</button></form>${(row.ended_at ?? null) === null && html`<form class="filters" method="post" action="${path}/end">${back}<button class="grave">End this session</button></form>`}`
    : html`<form class="filters" method="post" action="${path}/pause">${back}<label>Reason<input id="field-reason" name="reason" size="32" placeholder="may be left out"${typed('sessions/pause', 'reason', '')}></label><button class="grave">Pause this session</button></form>
<form class="filters" method="post" action="${path}/resume">${back}${key}<button>Reset loop rules</button></form>`
  return html`<div class="forms">${pause}
<form class="filters" method="post" action="${path}/name">${back}<label>Name<input id="field-name" name="name" size="24"${typed('sessions/name', 'name', row.name ?? '')}></label><button>Save name</button></form></div>`
}

const CHANGES = 20

/** What was decided about a session's requests, newest first, equal ones in one row, and what people changed about it. */
const historySection = async (gateway: Gateway, ask: Ask, { id, project_id }: SessionRow): Promise<Html> => {
  const { storage, tables } = gateway
  if (tables.get('calls') === undefined) return html``
  const cursor = ask.query.get('cursor')
  const [calls, changes] = await Promise.all([
    foldedCalls(storage, id, cursor || undefined),
    storage.find('session_events', { where: { session_id: id }, limit: CHANGES }),
  ])
  const [newest] = cursor ? (await storage.find('calls', { where: { session_id: id }, limit: 1 })).rows : []
  return html`${newest && newRowsMark(`/sessions/${encodeURIComponent(id)}`, `call-${newest.id}`, 'request')}${changes.rows.length > 0 && html`<h2>Changes</h2>${changeList(ask, changes.rows)}${changes.next_cursor !== null && html`<p class="quiet">The newest ${CHANGES}.</p>`}`}
<h2>Decisions</h2>
${
  calls.groups.length === 0
    ? html`<p class="quiet">No request is on record.</p>`
    : html`<table class="list rows stacks"><thead><tr><th scope="col">Time</th><th scope="col">Decision</th><th scope="col">Reason</th><th scope="col" class="free">Evidence</th><th scope="col">Model</th><th scope="col">Outcome</th><th scope="col" class="figure">Tokens</th><th scope="col">Replay</th></tr></thead><tbody>
${calls.groups.map((group) => groupRows(ask, group, project_id))}</tbody></table>`
}
${cursorLinks(ask, calls.next_cursor)}`
}

/** Equal requests as one row, or as one each if the address unfolds them. */
const groupRows = (ask: Ask, group: CallGroup, project_id: string): readonly Html[] => {
  const [newest] = group
  if (group.length < LEAST_FOLDED) return group.map((call) => callRow(ask, [call], project_id))
  if (!ask.query.getAll('unfold').includes(newest.id))
    return [callRow(ask, group, project_id, foldLink(ask, group, true))]
  return group.map((call, at) => callRow(ask, [call], project_id, at === 0 ? foldLink(ask, group, false) : undefined))
}

/** How many equal requests a row stands for, as a link that shows or hides the others. */
const foldLink = ({ url, query }: Ask, [newest, ...others]: CallGroup, folded: boolean): Html => {
  const next = new URLSearchParams(query)
  next.delete('notice')
  next.delete('unfold')
  for (const id of query.getAll('unfold')) if (id !== newest.id) next.append('unfold', id)
  if (folded) next.append('unfold', newest.id)
  const label = folded ? `Show all ${others.length + 1} equal requests` : `Fold ${others.length + 1} equal requests`
  const search = next.size === 0 ? '' : `?${next}`
  return html`<a class="status" href="${pathOf(url)}${search}#call-${newest.id}" aria-expanded="${String(!folded)}" aria-label="${label}">${others.length + 1} ×</a> `
}

const pathOf = (url: string): string => url.split('?', 1)[0] ?? ''

const SECOND_MS = 1_000

/** In another second, so that a range of time says something. */
const isLater = (one: CallRecord, other: CallRecord): boolean =>
  Math.floor(one.received_at / SECOND_MS) !== Math.floor(other.received_at / SECOND_MS)

const callRow = ({ now }: Ask, group: CallGroup, project_id: string, fold?: Html): Html => {
  const [newest] = group
  const { id, received_at, decision, reason, rule_id, matches, model_requested, outcome } = newest
  const reported = matches?.find((match) => match.rule_id === rule_id)
  const oldest = group.at(-1) ?? newest
  const retries = group.reduce((sum, call) => sum + call.retries, 0)
  const tokens = group.reduce((sum, call) => sum + call.total_tokens, 0)
  return html`<tr id="call-${id}" data-row><td>${isLater(newest, oldest) && html`${instantMark(oldest.received_at, now)} to `}${instantMark(received_at, now)}</td><td>${fold}${decisionMark(decision)}</td>
<td>${reason !== null && reasonLink(reason, rule_id, project_id)}</td>
<td>${reported?.message}${retries > 0 && html` <span class="quiet">and ${retries} the same after it</span>`}</td>
<td>${model_requested}</td><td>${outcome}</td><td class="figure">${countMark(tokens)}<span class="unit"> tokens</span></td>
<td>${replayLink(oldest)}</td></tr>
`
}

const reasonLink = (reason: string, rule_id: string | null, project_id: string): Html =>
  rule_id === null
    ? html`${reason}`
    : html`<a href="/policies/${encodeURIComponent(project_id)}#rule-${rule_id}">${reason}</a>`

const replayLink = ({ trace_id, span_id }: CallRecord): Html => {
  if (trace_id === null) return html``
  const run = `/replay/${encodeURIComponent(trace_id)}`
  const span = span_id === null ? '' : encodeURIComponent(span_id)
  return html`<a href="${span === '' ? run : `${run}?span=${span}#span-${span}`}">Show</a>`
}

const words: Readonly<Record<string, string>> = {
  'session.paused': 'paused',
  'session.ended': 'ended',
  'session.resumed': 'resumed',
  'session.updated': 'name or metadata changed',
}

const changeList = ({ now }: Ask, rows: readonly SessionEvent[]): Html =>
  html`<dl class="facts">${rows.map(
    ({ id, at, name, attributes }) =>
      html`<dt>${instantMark(at, now)}</dt><dd id="change-${id}">${words[name] ?? name}${typeof attributes?.reason === 'string' && html` <span class="quiet">${attributes.reason}</span>`}</dd>`,
  )}</dl>`

/** Rows of a page, where a row may stand for many requests. */
const PAGE_ROWS = 50
const READ_ROWS = 100
/** Requests that one page reads at most. */
const MAX_READ = 1_000
/** Fewer equal requests are shown one by one. */
const LEAST_FOLDED = 3

/** Requests in a row with the same body and the same decision, newest first. */
type CallGroup = readonly [CallRecord, ...CallRecord[]]

/** A page of the requests of a session, newest first, equal ones together. The cursor begins with the next group. */
const foldedCalls = async (
  storage: Reader,
  session_id: string,
  cursor: string | undefined,
): Promise<{ readonly groups: readonly CallGroup[]; readonly next_cursor: string | null }> => {
  const groups: [CallRecord, ...CallRecord[]][] = []
  let read = 0
  for await (const { call, from } of callsFrom(storage, session_id, cursor)) {
    const group = groups.at(-1)
    const isSame = group !== undefined && isEqual(group[0], call)
    if (read >= MAX_READ || (!isSame && rowsOf(groups) >= PAGE_ROWS)) return { groups, next_cursor: from ?? null }
    if (isSame) group.push(call)
    else groups.push([call])
    read++
  }
  return { groups, next_cursor: null }
}

/** Requests of a session, newest first, each with the cursor that begins with it; undefined for the very first. */
async function* callsFrom(storage: Reader, session_id: string, cursor: string | undefined) {
  let next: string | null | undefined = cursor
  while (next !== null) {
    let from: string | undefined = next
    const page: Awaited<ReturnType<typeof readPage>> = await readPage(storage, session_id, next)
    for (const [at, call] of page.rows.entries()) {
      yield { call, from }
      from = page.cursors?.[at]
    }
    next = page.next_cursor
  }
}

const readPage = (storage: Reader, session_id: string, cursor: string | undefined) =>
  storage.find('calls', {
    where: { session_id },
    limit: READ_ROWS,
    cursors: true,
    ...(cursor === undefined ? {} : { cursor }),
  })

const rowsOf = (groups: readonly CallGroup[]): number =>
  groups.reduce((sum, { length }) => sum + (length < LEAST_FOLDED ? length : 1), 0)

const isEqual = (one: CallRecord, other: CallRecord): boolean =>
  one.fingerprint === other.fingerprint &&
  one.decision === other.decision &&
  one.reason === other.reason &&
  one.rule_id === other.rule_id &&
  one.model_requested === other.model_requested &&
  one.outcome === other.outcome
