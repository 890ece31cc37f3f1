import type { Approver, SessionRow } from 'guard-gateway/core'
import { approverField } from 'guard-gateway/lib/approver'
import { type Html, html, instantMark } from 'guard-gateway/lib/html'
import { shortId } from 'guard-gateway/lib/ids'
import type { Ask, WaitingSource } from 'guard-gateway/lib/page'
import { stateField } from 'guard-gateway/lib/terminal'
import { waitingSessions } from '../queries.ts'
import { nameMark } from './buttons.ts'
import type { PageParts } from './index.ts'

const MAX_SHOWN = 10

/** The sessions that are paused, each with why, and the buttons that let it continue or end it. Those of the Playground wait for nobody. */
export const pausedSource = ({ gateway }: PageParts): WaitingSource => ({
  id: 'sessions/paused',
  order: 20,
  waiting: async (ask) => {
    const { rows, more } = await waitingSessions(gateway, MAX_SHOWN)
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
