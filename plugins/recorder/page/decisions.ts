import type { Gateway } from 'guard-gateway/core'
import { countMark, decisionMark, type Html, html, instantMark } from 'guard-gateway/lib/html'
import type { Ask, Panel } from 'guard-gateway/lib/page'
import type { CallRecord } from 'guard-gateway/lib/trace'
import type { Traffic } from './traffic.ts'

const MAX_LATEST = 5

/** Last flagged and blocked requests of the last day, then the latest requests. */
export const decisionsPanel = (gateway: Gateway, traffic: Traffic): Panel => ({
  id: 'recorder/decisions',
  order: 40,
  render: async (ask) => {
    const { storage } = gateway
    await traffic.update(storage, ask.now)
    const [latest, ...flagged] = await Promise.all([
      storage.find('calls', { limit: MAX_LATEST }),
      ...traffic.flagged().map((id) => storage.get('calls', id)),
    ])
    if (latest.rows.length === 0) return undefined
    const stored = flagged.filter((call) => call !== undefined)
    return html`<h2>Last flagged and blocked</h2>
${stored.length === 0 ? html`<p class="quiet">Nothing in the last 24 hours. No rule matched.</p>` : flaggedTable(ask, stored)}
<h2>Latest requests</h2>
${latestTable(ask, latest.rows)}`
  },
})

const flaggedTable = (ask: Ask, calls: readonly CallRecord[]): Html =>
  html`<table class="list rows stacks"><thead><tr><th scope="col">Time</th><th scope="col">Decision</th><th scope="col">Reason</th><th scope="col" class="free">Evidence</th><th scope="col">Session</th><th scope="col">Model</th><th scope="col">Replay</th></tr></thead><tbody>
${calls.map((call) => {
  const { id, received_at, decision, reason, rule_id, matches, model_requested, retries, project_id } = call
  const match = matches?.find((match) => match.rule_id === rule_id)
  const policy = `/policies/${encodeURIComponent(project_id)}`
  return html`<tr id="flag-${id}" data-row><td>${instantMark(received_at, ask.now)}</td><td>${decisionMark(decision)}</td><td>${reason !== null && html`<a class="status" href="${rule_id === null ? policy : `${policy}#rule-${rule_id}`}">${reason}</a>`}</td><td>${match?.message}${retries > 0 && html` <span class="quiet">and ${retries} the same after it</span>`}</td><td>${sessionLink(call)}</td><td>${model_requested}</td><td>${replayLink(call)}</td></tr>
`
})}</tbody></table>`

const latestTable = (ask: Ask, calls: readonly CallRecord[]): Html =>
  html`<table class="list rows stacks"><thead><tr><th scope="col">Time</th><th scope="col">Decision</th><th scope="col" class="free">Model</th><th scope="col">Session</th><th scope="col">Project</th><th scope="col">Outcome</th><th scope="col" class="figure">Tokens</th><th scope="col">Replay</th></tr></thead><tbody>
${calls.map((call) => {
  const { id, received_at, decision, model_requested, project_id, outcome, total_tokens } = call
  return html`<tr id="call-${id}" data-row><td>${instantMark(received_at, ask.now)}</td><td>${decisionMark(decision)}</td><th scope="row">${model_requested}</th><td>${sessionLink(call)}</td><td>${project_id}</td><td>${outcome}</td><td class="figure">${countMark(total_tokens)}<span class="unit"> tokens</span></td><td>${replayLink(call)}</td></tr>
`
})}</tbody></table>`

const SHORT_CHARS = 12

const sessionLink = ({ session_id }: CallRecord): Html =>
  session_id === null
    ? html``
    : html`<a class="id" href="/sessions/${encodeURIComponent(session_id)}">${session_id.slice(0, SHORT_CHARS).toWellFormed()}…</a>`

const replayLink = ({ trace_id, span_id }: CallRecord): Html => {
  if (trace_id === null) return html``
  const span = encodeURIComponent(span_id ?? '')
  return html`<a href="/replay/${encodeURIComponent(trace_id)}${span !== '' && `?span=${span}#span-${span}`}">Show</a>`
}
