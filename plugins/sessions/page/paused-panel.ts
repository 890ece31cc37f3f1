import type { Approver, SessionRow } from 'guard-gateway/core'
import { approverField } from 'guard-gateway/lib/approver'
import { type Html, html, instantMark } from 'guard-gateway/lib/html'
import { shortId } from 'guard-gateway/lib/ids'
import type { Ask, Panel } from 'guard-gateway/lib/page'
import { stateField } from 'guard-gateway/lib/terminal'
import { waitingSessions } from '../queries.ts'
import { nameMark } from './buttons.ts'
import type { PageParts } from './index.ts'

const MAX_SHOWN = 10

/** The sessions that are paused, each with why, and the buttons that let it continue or end it; among what waits for a person. */
export const waitingPanel = ({ gateway }: PageParts): Panel => ({
  id: 'sessions/waiting',
  order: 5,
  render: async (ask) => {
    const { rows, more } = await waitingSessions(gateway, MAX_SHOWN)
    if (rows.length === 0) return undefined
    return html`<h2 id="waiting">Paused sessions (${rows.length}${more && ' or more'})</h2>
${rows.map((row) => question(ask, row, gateway.approver))}
${more && html`<p><a href="/sessions?paused=true">All paused sessions</a></p>`}`
  },
})

const question = ({ now, url }: Ask, row: SessionRow, approver: Approver): Html => {
  const { id, name, external_id, project_id, paused_at, pause_reason } = row
  const path = `/ui/sessions/${encodeURIComponent(id)}`
  const back = html`<input type="hidden" name="return_to" value="${url}">${stateField(row)}`
  const title = name ?? (external_id === null ? shortId(id) : nameMark(external_id))
  return html`<article class="question" id="waiting-${id}" data-row data-gone="let go or ended elsewhere" aria-labelledby="title-${id}">
<div class="head"><h3 id="title-${id}"><a href="/sessions/${encodeURIComponent(id)}">${title}</a> <span class="quiet">of</span> ${nameMark(project_id)}</h3><p class="quiet">paused ${paused_at !== null && instantMark(paused_at, now)}</p></div>
<p>${pause_reason ?? html`<span class="quiet">Paused by hand, without a reason.</span>`}</p>
<div class="forms"><form class="filters" method="post" action="${path}/resume">${back}${approverField(approver, undefined)}<button class="main" aria-label="Resume session ${id}">Resume</button></form>
<form class="filters" method="post" action="${path}/end">${back}<button class="grave" aria-label="End session ${id}">End</button></form></div>
</article>
`
}
