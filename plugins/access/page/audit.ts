import type { Gateway } from 'guard-gateway/core'
import { cursorLinks, type Html, html, instantMark } from '#lib/html'
import { writeJson } from '#lib/json'
import type { Ask, Page } from '#lib/page'
import { foundAudit } from '../audit/find.ts'
import type { AuditEntryRow } from '../audit/tables.ts'

const MAX_ROWS = 50
const DETAIL_CHARS = 200

/** Who did what, newest first. */
export const auditPage = (gateway: Gateway): Page => ({
  id: 'access/audit',
  path: '/audit',
  render: async (ask) => {
    const text = (name: string): string => ask.query.get(name) ?? ''
    const filter = {
      actor: text('actor'),
      action: text('action'),
      project_id: text('project_id'),
      since: text('since'),
    }
    const { rows, next_cursor } = await foundAudit(gateway, filter, MAX_ROWS, ask.query.get('cursor') ?? undefined)
    const main = html`<div data-live="*"><h1>Who did what</h1>
<form class="filters" action="/audit" role="search"><label>Who<input name="actor" value="${filter.actor}"></label><label>Did<input name="action" value="${filter.action}" placeholder="session.paused"></label><label>Project<input name="project_id" value="${filter.project_id}"></label><label>Since<input name="since" value="${filter.since}" placeholder="7d"></label><button>Search</button></form>
${rows.length === 0 ? html`<p class="empty">There are no such records. Kept are pauses, approvals, policies, keys, logins and the like, for 400 days.</p>` : table(ask, rows)}
${cursorLinks(ask, next_cursor)}</div>`
    return { title: 'Who did what', main }
  },
})

const table = (ask: Ask, rows: readonly AuditEntryRow[]): Html =>
  html`<table class="list rows stacks"><thead><tr><th scope="col">At</th><th scope="col">Who</th><th scope="col">Did</th><th scope="col" class="free">To</th><th scope="col">Project</th><th scope="col">Details</th></tr></thead><tbody>
${rows.map((row) => rowOf(ask, row))}</tbody></table>`

const rowOf = ({ now }: Ask, row: AuditEntryRow): Html => {
  const { id, at, actor, actor_kind, action, subject, project_id, details } = row
  return html`<tr id="audit-${id}" data-row><td>${instantMark(at, now)}</td><th scope="row"><a href="/audit?actor=${encodeURIComponent(actor)}"><bdi>${actor}</bdi></a>${ways[actor_kind] !== undefined && html` <span class="quiet">${ways[actor_kind]}</span>`}</th><td><a href="/audit?action=${encodeURIComponent(action)}">${action}</a></td><td>${subjectLink(row, subject)}</td><td>${project_id}</td><td class="quiet wraps">${detailsText(details)}</td></tr>
`
}

const ways: Readonly<Record<string, string>> = { key: 'by key', session: 'in a browser', proxy: 'by the proxy' }

const pages: readonly (readonly [RegExp, string])[] = [
  [/^session\./, '/sessions/'],
  [/^agent\./, '/agents/'],
  [/^approval\./, '/approvals/'],
  [/^policy\./, '/policies/'],
  [/^run\./, '/replay/'],
]

const subjectLink = ({ action }: AuditEntryRow, subject: string | null): Html => {
  if (subject === null) return html``
  const page = pages.find(([pattern]) => pattern.test(action))?.[1]
  return page === undefined
    ? html`<bdi>${subject}</bdi>`
    : html`<a href="${page}${encodeURIComponent(subject)}"><bdi>${subject}</bdi></a>`
}

const detailsText = (details: AuditEntryRow['details']): string => {
  const entries = Object.entries(details).filter(([, value]) => value !== null)
  return entries
    .map(([name, value]) => `${name}: ${wordsOf(value)}`)
    .join('; ')
    .slice(0, DETAIL_CHARS)
    .toWellFormed()
}

const wordsOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(wordsOf).join(', ')
  return typeof value === 'string' ? value : writeJson(value)
}
