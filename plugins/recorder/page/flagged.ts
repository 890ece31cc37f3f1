import type { Gateway, SessionRow } from 'guard-gateway/core'
import { costHead, costUnit, countMark, type Html, html, instantMark, priceMark } from 'guard-gateway/lib/html'
import type { Ask, Panel } from 'guard-gateway/lib/page'
import type { FlagGroupTotal } from 'guard-gateway/lib/trace'
import { readFlagReport } from '../flags/read-report.ts'
import { sessionsOf } from '../flags/report.ts'
import { agentLink, reasonLink, sessionLink } from './links.ts'

const DAY_MS = 86_400_000
const MAX_ROWS = 10

/** What was flagged and blocked in the last 24 hours, a line for each session and reason. */
export const flaggedPanel = (gateway: Gateway): Panel => ({
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
