import type { Gateway } from 'guard-gateway/core'
import { approverField } from 'guard-gateway/lib/approver'
import { type Html, html } from 'guard-gateway/lib/html'
import { type Ask, formKind } from 'guard-gateway/lib/page'
import { stateField } from 'guard-gateway/lib/terminal'
import type { Trace } from 'guard-gateway/lib/trace'

/** Buttons that stop the session of a run, or let it go on; nothing for a session that this gateway does not lead. */
export const sessionButtons = async (gateway: Gateway, { run }: Trace, ask: Ask, isLoop: boolean): Promise<Html> => {
  const row = run.session_id === null ? undefined : await gateway.storage.get('sessions', run.session_id)
  if (row === undefined || gateway.registry(formKind).get('sessions/pause') === undefined) return html``
  const { approver } = gateway
  const path = `/ui/sessions/${encodeURIComponent(row.id)}`
  const back = html`<input type="hidden" name="return_to" value="${ask.url}">${stateField(row)}`
  const form = (act: string, button: Html) =>
    html`<form class="filters" method="post" action="${path}/${act}">${back}${act === 'resume' && approverField(approver, undefined)}${button}</form>`
  const session = html`<a href="/sessions/${encodeURIComponent(row.id)}">${row.paused ? 'Paused session' : 'Session'}</a>`
  return html`<div class="forms">${
    row.paused
      ? form('resume', html`<button class="main">Resume session</button>`)
      : html`${form('pause', html`<button class="grave">Pause session</button>`)}${isLoop && form('resume', html`<button>Reset loop rules</button>`)}`
  }<span class="beside">${session}</span></div>`
}
