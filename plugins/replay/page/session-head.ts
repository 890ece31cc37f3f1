import type { Gateway, Reader, SessionRow } from 'guard-gateway/core'
import { costUnit, type Html, html } from 'guard-gateway/lib/html'
import { type Ask, formKind } from 'guard-gateway/lib/page'
import { stateField } from 'guard-gateway/lib/terminal'
import { NS_PER_MS } from '../time.ts'
import { costMark, countMark, durationMark, timeMark } from './format.ts'

/** Session of the listed runs with its totals; undefined if the list is not filtered by a session. */
export const sessionHead = async (gateway: Gateway, { query, url, now }: Ask): Promise<Html | undefined> => {
  const name = query.get('session_id') ?? ''
  if (name === '') return undefined
  const row = await known(gateway.storage, name)
  if (row === undefined)
    return html`<p class="quiet">Runs of session <code>${name}</code>, which this gateway has not led itself.</p>`
  const { id } = row
  const act = row.paused ? 'resume' : 'pause'
  const path = `/ui/sessions/${encodeURIComponent(id)}/${act}`
  return html`<section class="session" aria-label="Session">
<div class="head"><p>Session <a class="id" href="/sessions/${encodeURIComponent(id)}">${id}</a> ${
    row.external_id !== null && html`<span class="quiet">${row.external_id}</span> `
  }${row.paused && html`<strong class="warning">paused</strong>`}</p>${
    gateway.registry(formKind).get(`sessions/${act}`) !== undefined &&
    html`<form class="inline" method="post" action="${path}"><input type="hidden" name="return_to" value="${url}">${stateField(row)}<button>${row.paused ? 'Resume' : 'Pause'}</button></form>`
  }</div>
<p class="sums">${durationMark(BigInt(row.last_seen_at - row.created_at) * NS_PER_MS)} from first to last request · ${countMark(row.requests)} requests · ${countMark(row.total_tokens)} tokens · ${costMark(BigInt(row.cost_micro))} ${costUnit(gateway)} · ${row.flagged} flagged · ${row.blocked} blocked · ${row.errors} errors · last seen ${timeMark(BigInt(row.last_seen_at) * NS_PER_MS, now)}</p>
</section>`
}

/** Session by id, or by an external id that is unique. */
const known = async (storage: Reader, name: string): Promise<SessionRow | undefined> => {
  const row = await storage.get('sessions', name)
  if (row !== undefined) return row
  const { rows } = await storage.find('sessions', { where: { external_id: name }, limit: 2 })
  return rows.length === 1 ? rows[0] : undefined
}
