import type { SessionRow } from 'guard-gateway/core'
import { costHead, costUnit, countMark, type Html, html, instantMark, priceMark } from '#lib/html'
import { shortId } from '#lib/ids'
import type { Ask, Panel } from '#lib/page'
import { sessionsSince } from '../queries.ts'
import { nameMark, shortName } from './buttons.ts'
import { decisionsText, type PageParts } from './list.ts'

const DAY_MS = 86_400_000
const MAX_ROWS = 8

/** The sessions of the last 24 hours that cost most, each with the part that came after its flag. */
export const expensivePanel = ({ gateway, live }: PageParts): Panel => ({
  id: 'sessions/expensive',
  order: 12,
  render: async (ask) => {
    const { rows, more } = await sessionsSince(gateway, live, ask.now - DAY_MS)
    const dearest = rows
      .filter(({ total_tokens, cost_micro }) => cost_micro > 0 || total_tokens > 0)
      .toSorted((one, other) => other.cost_micro - one.cost_micro || other.total_tokens - one.total_tokens)
      .slice(0, MAX_ROWS)
    if (dearest.length === 0) return undefined
    const unit = costUnit(gateway)
    return html`<h2>Most expensive sessions of the last 24 hours</h2>
<table class="list rows stacks sessions"><thead><tr><th scope="col">Last seen</th><th scope="col" class="free">Session</th><th scope="col">Project</th><th scope="col">Agent</th><th scope="col" class="figure">Requests</th><th scope="col" class="figure">Tokens</th><th scope="col" class="figure">${costHead(gateway)}</th><th scope="col" class="figure">After the flag</th><th scope="col">Decisions</th></tr></thead><tbody>
${dearest.map((row) => dearRow(ask, row, unit))}</tbody></table>
${more && html`<p class="quiet">Of the newest sessions; there are more than are looked at.</p>`}`
  },
})

const dearRow = ({ now }: Ask, row: SessionRow, unit: string): Html => {
  const { id, name, external_id, project_id, agent_id, requests, total_tokens, cost_micro, last_seen_at } = row
  return html`<tr id="dear-${id}" data-row><td>${instantMark(last_seen_at, now)}</td>
<th scope="row"><a href="/sessions/${encodeURIComponent(id)}">${name ?? (external_id === null ? shortId(id) : nameMark(external_id))}</a></th>
<td>${nameMark(project_id)}</td><td>${agent_id !== null && html`<a href="/agents/${encodeURIComponent(agent_id)}">${shortName(agent_id)}</a>`}</td>
<td class="figure">${countMark(requests)}<span class="unit"> requests</span></td><td class="figure">${countMark(total_tokens)}<span class="unit"> tokens</span></td><td class="figure">${priceMark(cost_micro)}<span class="unit"> ${unit}</span></td><td class="figure">${afterFlag(row)}</td><td>${decisionsText(row)}</td></tr>
`
}

/** The part of a session's cost that came after its flag, of its tokens where nothing is priced; empty where there is none. */
const afterFlag = ({ cost_micro, total_tokens, ...row }: SessionRow): Html => {
  if (row.flagged_at === null) return html``
  const [part, whole] = cost_micro > 0 ? [row.cost_since_flag_micro, cost_micro] : [row.tokens_since_flag, total_tokens]
  const share = whole === 0 ? 0 : Math.min(100, Math.round((100 * part) / whole))
  return html`${cost_micro > 0 && html`${priceMark(part)} `}<span class="quiet">${share} %</span><span class="unit"> after the flag</span> <meter max="100" high="50" optimum="0" value="${share}" aria-label="Share after the flag"></meter>`
}
