import type { Gateway, Session, SessionRow } from 'guard-gateway/core'
import { approverField } from 'guard-gateway/lib/approver'
import { byRemainingShare } from 'guard-gateway/lib/budget'
import {
  costHead,
  costUnit,
  countMark,
  faultList,
  type Html,
  html,
  instantMark,
  priceMark,
} from 'guard-gateway/lib/html'
import { type Ask, type Markup, type Page, sessionSourceKind } from 'guard-gateway/lib/page'
import { isRefusing } from 'guard-gateway/lib/session'
import { budgetTable, stateField } from 'guard-gateway/lib/terminal'
import { liveById } from '../queries.ts'
import { totalInput } from '../views.ts'
import { type Budgets, budgetMark, budgetsOf, tokensUsed } from './budgets.ts'
import { pausedMark } from './buttons.ts'
import { historySection } from './history.ts'
import type { PageParts } from './index.ts'
import { decisionsText } from './list.ts'

/** One session: what it used, what was decided about it, and the ways to stop it. Throws SESSION_NOT_FOUND. */
export const detailPage = ({ gateway, live }: PageParts): Page => ({
  id: 'sessions/session',
  path: '/sessions/:id',
  render: async (ask) => {
    const session = await liveById(gateway, live, ask.params.id ?? '')
    const { row } = session
    const budgets = (await budgetsOf(gateway, [row.project_id])).get(row.project_id)
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
