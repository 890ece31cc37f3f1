import type { Gateway } from 'guard-gateway/core'
import { bytesText } from 'guard-gateway/lib/format'
import { durationMark, type Html, html } from 'guard-gateway/lib/html'
import type { InFlightClient } from 'guard-gateway/lib/http'
import type { Ask, Panel } from 'guard-gateway/lib/page'
import { sees } from 'guard-gateway/lib/principal'
import type { HttpServerState } from '../http-server-state.ts'

const MOST_ROWS = 20

/** The model requests in flight, the oldest first. */
export const inFlightPanel = ({ gateway, inFlight }: HttpServerState): Panel => ({
  id: 'http/under-way',
  order: 20,
  render: async (ask) => {
    const inFlightClients = inFlight.all().filter(({ call }) => call !== undefined && sees(call.project_id))
    if (inFlightClients.length === 0) return html`<h2>Requests under way</h2><p class="quiet">None at this moment.</p>`
    const rows = inFlightClients.sort((one, other) => (one.call?.at ?? 0) - (other.call?.at ?? 0))
    return html`<h2 data-unfinished>Requests under way (${rows.length})</h2>
<table class="list rows stacks"><thead><tr><th scope="col" class="free">Model</th><th scope="col">Session</th><th scope="col">Project</th><th scope="col">Upstream</th><th scope="col" class="figure">For</th><th scope="col" class="figure">Answered</th></tr></thead><tbody>
${rows.slice(0, MOST_ROWS).map((client) => row(gateway, ask, client))}</tbody></table>
${rows.length > MOST_ROWS && html`<p class="quiet">The ${MOST_ROWS} that take longest.</p>`}`
  },
})

const row = ({ redact }: Gateway, { now }: Ask, { call, status, bytes }: InFlightClient): Html => {
  if (call === undefined) return html``
  const { id, at, envelope, session, project_id, upstream } = call
  return html`<tr id="${id}" data-row><th scope="row">${redact.text(envelope.model)}</th>
<td>${session !== null && sessionLink(session.row)}</td><td>${project_id}</td><td>${upstream}</td><td class="figure">${durationMark(Math.max(0, now - at))}</td><td class="figure">${status === 0 ? html`<span class="running">waits</span>` : bytesText(bytes)}</td></tr>
`
}

const SHORT_CHARS = 24

const sessionLink = (row: { readonly id: string; readonly name: string | null; readonly external_id: string | null }) =>
  html`<a href="/sessions/${encodeURIComponent(row.id)}">${(row.name ?? row.external_id ?? row.id).slice(0, SHORT_CHARS).toWellFormed()}</a>`
