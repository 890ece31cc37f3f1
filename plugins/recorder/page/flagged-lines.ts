import type { Gateway, SessionRow } from 'guard-gateway/core'
import { approverField } from '#lib/approver'
import { costUnit, countMark, type Html, html } from '#lib/html'
import type { Ask, WaitingSource } from '#lib/page'
import { isRefusing } from '#lib/session'
import { stateField } from '#lib/terminal'
import type { CallRecord } from '#lib/trace'
import { spentText } from '../flags/words.ts'
import { agentLink, replayLink, sessionLink } from './links.ts'

const DAY_MS = 86_400_000
const AT_WORK_MS = 15 * 60_000
const MAX_READ = 500
const MAX_LINES = 5

/** Sessions that enforcing would have stopped within the last day and that went on: those still at work first, then those that cost most since. */
export const flaggedSource = (gateway: Gateway): WaitingSource => ({
  id: 'recorder/flagged',
  order: 0,
  waiting: async (ask) => {
    const rows = await flaggedSessions(gateway, ask.now)
    const listed = rows.slice(0, MAX_LINES)
    const calls = await Promise.all(listed.map((row) => lastFlagged(gateway, row)))
    const rest = rows.length - listed.length
    return {
      lines: listed.map((row, at) => flaggedLine(gateway, ask, row, calls[at])),
      total: rows.length,
      ...(rest > 0
        ? { note: html`<a href="#flagged">${rest} more flagged session${rest !== 1 && 's'}</a> of the last 24 hours` }
        : {}),
    }
  },
})

/** Neither paused nor resumed since their flag. */
const flaggedSessions = async ({ storage }: Gateway, now: number): Promise<readonly SessionRow[]> => {
  const where = { flagged_at: { gte: now - DAY_MS }, paused: false, ended_at: null, playground: null }
  const { rows } = await storage.find('sessions', { where, limit: MAX_READ })
  const waits = ({ flagged_at, flagged_action, resumed_at }: SessionRow): boolean =>
    isRefusing(flagged_action) && (resumed_at ?? -1) < (flagged_at ?? 0)
  const rank = ({ last_seen_at }: SessionRow): number => (last_seen_at >= now - AT_WORK_MS ? 1 : 0)
  return rows
    .filter(waits)
    .toSorted(
      (one, other) =>
        rank(other) - rank(one) ||
        other.cost_since_flag_micro - one.cost_since_flag_micro ||
        other.tokens_since_flag - one.tokens_since_flag,
    )
}

/** The last request of a session that its rule flagged. */
const lastFlagged = async (
  { storage }: Gateway,
  { id, flagged_rule_id }: SessionRow,
): Promise<CallRecord | undefined> => {
  const where = { session_id: id, decision: 'shadow_flag', rule_id: flagged_rule_id } as const
  return (await storage.find('calls', { where, limit: 1 })).rows[0]
}

const flaggedLine = (gateway: Gateway, { url }: Ask, row: SessionRow, call: CallRecord | undefined): Html => {
  const { id, agent_id, project_id, flagged, flagged_rule_id, flagged_reason } = row
  const match = call?.matches?.find(({ rule_id }) => rule_id === flagged_rule_id)
  const spent = {
    requests_since_flag: row.requests_since_flag,
    tokens_since_flag: row.tokens_since_flag,
    cost_since_flag_micro: row.cost_since_flag_micro,
  }
  const path = `/ui/sessions/${encodeURIComponent(id)}`
  const back = html`<input type="hidden" name="return_to" value="${url}">${stateField(row)}`
  return html`<li class="need" id="loop-${id}" data-row data-gone="paused or reset elsewhere"><span class="status warning"><span aria-hidden="true">▲</span> ${kindOf(flagged_reason)}</span>
<span class="who">${sessionLink(id, row)} <span class="quiet">· ${agent_id === null ? project_id : agentLink(agent_id)}</span></span>
<span class="why">${match?.message ?? flagged_reason}${flagged > 1 && html` <span class="status">· flagged × ${countMark(flagged)}</span>`} · <strong>${spentText(spent, costUnit(gateway))}</strong> since it was flagged</span>
<span class="acts"><form class="inline" method="post" action="${path}/pause">${back}<button class="main" aria-label="Pause session ${id}">Pause</button></form>
<form class="inline" method="post" action="${path}/resume">${back}${approverField(gateway.approver, undefined)}<button aria-label="Reset loop rules of session ${id}">Reset</button></form>
${call !== undefined && replayLink(call, 'Evidence')}</span></li>`
}

/** A budget is no loop. */
const kindOf = (reason: string | null): string => {
  if (reason?.startsWith('LOOP_') === true) return 'loop'
  return reason?.startsWith('LIMIT_') === true ? 'limit' : 'flagged'
}
