import type { Gateway, SessionRow } from 'guard-gateway/core'
import { countMark, cursorLinks, decisionMark, type Html, html, instantMark, newRowsMark } from 'guard-gateway/lib/html'
import type { Ask } from 'guard-gateway/lib/page'
import type { CallRecord, SessionEvent } from 'guard-gateway/lib/trace'

const PAGE_ROWS = 50
const CHANGES = 20

/** What was decided about a session's requests, newest first, and what people changed about it. */
export const historySection = async (gateway: Gateway, ask: Ask, { id, project_id }: SessionRow): Promise<Html> => {
  const { storage, tables } = gateway
  if (tables.get('calls') === undefined) return html``
  const cursor = ask.query.get('cursor')
  const [calls, changes] = await Promise.all([
    storage.find('calls', { where: { session_id: id }, limit: PAGE_ROWS, ...(cursor ? { cursor } : {}) }),
    storage.find('session_events', { where: { session_id: id, decision: null }, limit: CHANGES }),
  ])
  const [newest] = cursor ? (await storage.find('calls', { where: { session_id: id }, limit: 1 })).rows : []
  return html`${newest && newRowsMark(`/sessions/${encodeURIComponent(id)}`, `call-${newest.id}`, 'request')}${changes.rows.length > 0 && html`<h2>Changes</h2>${changeList(ask, changes.rows)}${changes.next_cursor !== null && html`<p class="quiet">The newest ${CHANGES}.</p>`}`}
<h2>Decisions</h2>
${
  calls.rows.length === 0
    ? html`<p class="quiet">No request is on record.</p>`
    : html`<table class="list rows stacks"><thead><tr><th scope="col">Time</th><th scope="col">Decision</th><th scope="col">Reason</th><th scope="col" class="free">Evidence</th><th scope="col">Model</th><th scope="col">Outcome</th><th scope="col" class="figure">Tokens</th><th scope="col">Replay</th></tr></thead><tbody>
${calls.rows.map((call) => callRow(ask, call, project_id))}</tbody></table>`
}
${cursorLinks(ask, calls.next_cursor)}`
}

const callRow = ({ now }: Ask, call: CallRecord, project_id: string): Html => {
  const { id, received_at, decision, reason, rule_id, matches, model_requested, outcome, total_tokens, retries } = call
  const told = matches?.find((match) => match.rule_id === rule_id)
  return html`<tr id="call-${id}" data-row><td>${instantMark(received_at, now)}</td><td>${decisionMark(decision)}</td>
<td>${reason !== null && reasonLink(reason, rule_id, project_id)}</td>
<td>${told?.message}${retries > 0 && html` <span class="quiet">and ${retries} the same after it</span>`}</td>
<td>${model_requested}</td><td>${outcome}</td><td class="figure">${countMark(total_tokens)}<span class="unit"> tokens</span></td>
<td>${replayLink(call)}</td></tr>
`
}

const reasonLink = (reason: string, rule_id: string | null, project_id: string): Html =>
  rule_id === null
    ? html`${reason}`
    : html`<a href="/policies/${encodeURIComponent(project_id)}#rule-${rule_id}">${reason}</a>`

const replayLink = ({ trace_id, span_id }: CallRecord): Html => {
  if (trace_id === null) return html``
  const run = `/replay/${encodeURIComponent(trace_id)}`
  const span = span_id === null ? '' : encodeURIComponent(span_id)
  return html`<a href="${span === '' ? run : `${run}?span=${span}#span-${span}`}">Show</a>`
}

const words: Readonly<Record<string, string>> = {
  'session.paused': 'paused',
  'session.ended': 'ended',
  'session.resumed': 'resumed',
  'session.updated': 'name or metadata changed',
}

const changeList = ({ now }: Ask, rows: readonly SessionEvent[]): Html =>
  html`<dl class="facts">${rows.map(
    ({ id, at, name, attributes }) =>
      html`<dt>${instantMark(at, now)}</dt><dd id="change-${id}">${words[name] ?? name}${typeof attributes?.reason === 'string' && html` <span class="quiet">${attributes.reason}</span>`}</dd>`,
  )}</dl>`
