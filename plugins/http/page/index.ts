import type { Gateway } from 'guard-gateway/core'
import { bytesText } from '#lib/format'
import { durationMark, type Html, html } from '#lib/html'
import type { InFlightClient } from '#lib/http'
import { type Ask, type Panel, panelKind } from '#lib/page'
import { sees } from '#lib/principal'
import type { HttpServerState } from '../http-server-state.ts'

/** Adds the panels of this feature to the page Now. */
export const addPanels = (state: HttpServerState): void => {
  for (const panel of [firstStepsPanel(state), inFlightPanel(state)]) state.gateway.registry(panelKind).add(panel)
}

/** How a first request is sent, as long as none is on record. */
const firstStepsPanel = (state: HttpServerState): Panel => ({
  id: 'http/first-steps',
  order: 10,
  render: async () => {
    const { storage, calledAs } = state.gateway
    if (storage.has('calls') && (await storage.find('calls', { limit: 1 })).rows.length > 0) return undefined
    const commands = [
      ['Start an agent through the gateway', `${calledAs.here} run -- claude`],
      ['Let a scenario run, which needs no provider', `${calledAs.here} playground run exact-loop`],
      ['Send a request by hand', curl(`${state.scheme}://${nameOf(state.server.host)}:${state.port}`, calledAs.here)],
    ] as const
    return html`<h2>No request has come by yet</h2>
${commands.map(
  ([what, command]) =>
    html`<p>${what} <button class="plain" data-copy="${command}">Copy</button></p><pre>${command}</pre>`,
)}
<p>Or open the <a href="/playground">Playground</a>, where each rule shows what it does.</p>`
  },
})

/** How this machine asks an address for itself. */
const nameOf = (host: string): string => {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

const curl = (url: string, guard: string): string =>
  `curl ${url}/v1/chat/completions \\
  -H "authorization: Bearer $(${guard} key print)" \\
  -H "content-type: application/json" \\
  -d '{"model": "MODEL", "messages": [{"role": "user", "content": "Hello"}]}'`

const MOST_ROWS = 20

/** The model requests in flight, the oldest first. */
const inFlightPanel = ({ gateway, inFlight }: HttpServerState): Panel => ({
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
