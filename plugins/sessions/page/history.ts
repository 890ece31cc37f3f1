import type { Gateway, SessionRow } from 'guard-gateway/core'
import { countMark, cursorLinks, decisionMark, type Html, html, instantMark, newRowsMark } from 'guard-gateway/lib/html'
import type { Ask } from 'guard-gateway/lib/page'
import type { CallRecord, SessionEvent } from 'guard-gateway/lib/trace'
import { type CallGroup, foldedCalls, LEAST_FOLDED } from './equal-calls.ts'

const CHANGES = 20

/** What was decided about a session's requests, newest first, equal ones in one row, and what people changed about it. */
export const historySection = async (gateway: Gateway, ask: Ask, { id, project_id }: SessionRow): Promise<Html> => {
  const { storage, tables } = gateway
  if (tables.get('calls') === undefined) return html``
  const cursor = ask.query.get('cursor')
  const [calls, changes] = await Promise.all([
    foldedCalls(storage, id, cursor || undefined),
    storage.find('session_events', { where: { session_id: id }, limit: CHANGES }),
  ])
  const [newest] = cursor ? (await storage.find('calls', { where: { session_id: id }, limit: 1 })).rows : []
  return html`${newest && newRowsMark(`/sessions/${encodeURIComponent(id)}`, `call-${newest.id}`, 'request')}${changes.rows.length > 0 && html`<h2>Changes</h2>${changeList(ask, changes.rows)}${changes.next_cursor !== null && html`<p class="quiet">The newest ${CHANGES}.</p>`}`}
<h2>Decisions</h2>
${
  calls.groups.length === 0
    ? html`<p class="quiet">No request is on record.</p>`
    : html`<table class="list rows stacks"><thead><tr><th scope="col">Time</th><th scope="col">Decision</th><th scope="col">Reason</th><th scope="col" class="free">Evidence</th><th scope="col">Model</th><th scope="col">Outcome</th><th scope="col" class="figure">Tokens</th><th scope="col">Replay</th></tr></thead><tbody>
${calls.groups.map((group) => groupRows(ask, group, project_id))}</tbody></table>`
}
${cursorLinks(ask, calls.next_cursor)}`
}

/** Equal requests as one row, or as one each if the address unfolds them. */
const groupRows = (ask: Ask, group: CallGroup, project_id: string): readonly Html[] => {
  const [newest] = group
  if (group.length < LEAST_FOLDED) return group.map((call) => callRow(ask, [call], project_id))
  if (!ask.query.getAll('unfold').includes(newest.id))
    return [callRow(ask, group, project_id, foldLink(ask, group, true))]
  return group.map((call, at) => callRow(ask, [call], project_id, at === 0 ? foldLink(ask, group, false) : undefined))
}

/** How many equal requests a row stands for, as a link that shows or hides the others. */
const foldLink = ({ url, query }: Ask, [newest, ...others]: CallGroup, folded: boolean): Html => {
  const next = new URLSearchParams(query)
  next.delete('notice')
  next.delete('unfold')
  for (const id of query.getAll('unfold')) if (id !== newest.id) next.append('unfold', id)
  if (folded) next.append('unfold', newest.id)
  const label = folded ? `Show all ${others.length + 1} equal requests` : `Fold ${others.length + 1} equal requests`
  const search = next.size === 0 ? '' : `?${next}`
  return html`<a class="status" href="${pathOf(url)}${search}#call-${newest.id}" aria-expanded="${String(!folded)}" aria-label="${label}">${others.length + 1} ×</a> `
}

const pathOf = (url: string): string => url.split('?', 1)[0] ?? ''

const SECOND_MS = 1_000

/** In another second, so that a range of time says something. */
const isLater = (one: CallRecord, other: CallRecord): boolean =>
  Math.floor(one.received_at / SECOND_MS) !== Math.floor(other.received_at / SECOND_MS)

const callRow = ({ now }: Ask, group: CallGroup, project_id: string, fold?: Html): Html => {
  const [newest] = group
  const { id, received_at, decision, reason, rule_id, matches, model_requested, outcome } = newest
  const told = matches?.find((match) => match.rule_id === rule_id)
  const oldest = group.at(-1) ?? newest
  const retries = group.reduce((sum, call) => sum + call.retries, 0)
  const tokens = group.reduce((sum, call) => sum + call.total_tokens, 0)
  return html`<tr id="call-${id}" data-row><td>${isLater(newest, oldest) && html`${instantMark(oldest.received_at, now)} to `}${instantMark(received_at, now)}</td><td>${fold}${decisionMark(decision)}</td>
<td>${reason !== null && reasonLink(reason, rule_id, project_id)}</td>
<td>${told?.message}${retries > 0 && html` <span class="quiet">and ${retries} the same after it</span>`}</td>
<td>${model_requested}</td><td>${outcome}</td><td class="figure">${countMark(tokens)}<span class="unit"> tokens</span></td>
<td>${replayLink(oldest)}</td></tr>
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
