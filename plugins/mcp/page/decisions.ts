import { GuardError, type Where } from 'guard-gateway/core'
import { choice, cursorLinks, decisionMark, type Html, html, instantMark, newRowsMark, pageUrl } from '#lib/html'
import type { Ask } from '#lib/page'
import { auditKinds, judgedActions } from '../audit/enums.ts'
import type { AuditRow } from '../audit/tables.ts'
import type { ServersView } from '../management/server-schemas.ts'
import type { Mcp } from '../mcp.ts'
import { callerMark, findingList, nameMark, resultFindingList, spanLink } from './marks.ts'

const PAGE_ROWS = 50

/** What was decided about calls, newest first, and what else is on record, as far as the filters select it. */
export const decisionsSection = async (mcp: Mcp, ask: Ask, view: ServersView): Promise<Html> => {
  const { query } = ask
  const cursor = query.get('cursor')
  const { storage } = mcp.gateway
  const filter = { where: whereOf(query), order: ['at', 'desc'] } as const
  const { rows, next_cursor } = await storage.find('mcp_audit', {
    ...filter,
    limit: PAGE_ROWS,
    ...(cursor ? { cursor } : {}),
  })
  const [newest] = cursor ? (await storage.find('mcp_audit', { ...filter, limit: 1 })).rows : []
  return html`<div class="head"><h2 id="decisions">Decisions</h2><p class="acts"><a href="${exportUrl(query)}">Export audit</a></p></div>
${filterForm(query, view)}
${newest && newRowsMark(`${narrowedUrl('/mcp', query)}#decisions`, `audit-${newest.id}`, 'decision')}${rows.length === 0 ? html`<p class="quiet">${isNarrowed(query) ? html`Nothing is like this. ${(query.get('tool') || query.get('session_id')) && 'Names and ids are compared whole. '}<a href="/mcp#decisions">Clear the filters</a>` : 'No call of a tool has come by yet.'}</p>` : auditTable(ask, rows)}
${cursorLinks(ask, next_cursor)}`
}

const filters = ['server_id', 'tool', 'action', 'session_id'] as const

const isNarrowed = (query: URLSearchParams): boolean => [...filters, 'kind'].some((name) => Boolean(query.get(name)))

/** The rows that the query selects: decisions unless another kind is named. Throws INVALID_FILTER. */
const whereOf = (query: URLSearchParams): Where<AuditRow> => {
  const equal: Record<string, string> = {}
  for (const name of filters) {
    const value = query.get(name) ?? ''
    if (value !== '') equal[name] = value
  }
  const kind = query.get('kind') || 'decision'
  checkChoice('kind', kind, [...auditKinds, 'all'])
  checkChoice('action', equal.action, judgedActions)
  return { ...equal, ...(kind === 'all' ? {} : { kind: auditKinds.find((one) => one === kind) ?? 'decision' }) }
}

const checkChoice = (name: string, value: string | undefined, choices: readonly string[]): void => {
  if (value === undefined || choices.includes(value)) return
  throw new GuardError('INVALID_FILTER', `"${name}" must be one of ${choices.join(', ')}.`, { path: `/${name}` })
}

const narrowedUrl = (path: string, query: URLSearchParams): string =>
  pageUrl(path, Object.fromEntries([...filters, 'kind'].map((name) => [name, query.get(name)])))

const exportUrl = (query: URLSearchParams): string =>
  pageUrl('/api/v1/mcp/export', Object.fromEntries(filters.map((name) => [name, query.get(name)])))

const filterForm = (query: URLSearchParams, { servers }: ServersView): Html => {
  const value = (name: string): string => query.get(name) ?? ''
  const same = (words: readonly string[]) => words.map((word) => [word, word] as const)
  return html`<form class="filters" action="/mcp#decisions" role="search">
<label>What${choice('kind', value('kind'), [['', 'decisions'], ...same(auditKinds.filter((kind) => kind !== 'decision')), ['all', 'all']])}</label>
<label>Action${choice('action', value('action'), [['', 'any'], ...same(judgedActions)])}</label>
<label>Tool<input type="search" name="tool" value="${value('tool')}" size="16" placeholder="all"></label>
<label>Server${choice('server_id', value('server_id'), [['', 'any'], ...same(servers.map(({ id }) => id))])}</label>
<label>Session<input name="session_id" value="${value('session_id')}" size="20" placeholder="all"></label>
<button>Show</button>${isNarrowed(query) && html` <a class="clear" href="/mcp#decisions">Clear</a>`}</form>`
}

/** Audit records as a table. */
export const auditTable = ({ now }: Ask, rows: readonly AuditRow[]): Html =>
  html`<table class="list rows stacks audit"><thead><tr><th scope="col">Time</th><th scope="col">Decision</th><th scope="col">Tool</th><th scope="col">Server</th><th scope="col" class="first-spare">Rule</th><th scope="col" class="free">Reason</th><th scope="col">Result</th><th scope="col">Replay</th></tr></thead><tbody>
${rows.map(
  (
    row,
  ) => html`<tr id="audit-${row.id}" data-row><td>${instantMark(row.at, now)}</td><td>${row.action === null ? row.name : decisionMark(row.action)}</td><td>${nameMark(row.tool)}</td><td>${nameMark(row.server_id)}</td><td class="first-spare">${row.rule_ids?.join(', ')}</td><td>${reasonText(row)}</td><td>${happened(row)}</td><td>${spanLink(row.trace_id, row.span_id, 'Show')}</td></tr>
`,
)}</tbody></table>`

/** The reason, further findings of checks, and who asked where rules are about that. */
const reasonText = ({ reason, findings, result_findings, caller }: AuditRow): Html => {
  const more = reason === null || (findings?.length ?? 0) > 1 ? findingList(findings) : ''
  return html`${reason}${more}${callerMark(caller)}${resultFindingList(result_findings)}`
}

const happened = ({ kind, forwarded, outcome, mode, duration_ms }: AuditRow): Html => {
  if (kind !== 'decision') return html``
  const words = forwarded === true ? `forwarded, ${outcome ?? 'no answer yet'}` : 'not forwarded'
  return html`<span class="status">${words}${forwarded === true && duration_ms !== null && html` <span class="quiet">${duration_ms} ms</span>`}</span>${mode === 'shadow' && html` <span class="quiet">shadow</span>`}`
}
