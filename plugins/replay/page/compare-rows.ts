import { durationText } from 'guard-gateway/lib/format'
import { type Html, html } from 'guard-gateway/lib/html'
import type { Ask } from 'guard-gateway/lib/page'
import type { ComparedRow, ComparedSpan, Comparison } from '../read/compare.ts'
import { slowerText } from './compare-sums.ts'
import { middleEllipsis, numbered, spanUrl, statusMark } from './format.ts'
import { linked } from './links.ts'

const PAGE_ROWS = 1_000
const KEY_CHARS = 60

/** Paired spans of both runs, filtered by `rows`. */
export const comparedRows = ({ query }: Ask, compared: Comparison): Html => {
  const wanted = tests.get(query.get('rows') ?? '') ?? (() => true)
  const rows = compared.spans.filter(wanted)
  if (rows.length === 0) return html`<p class="empty">No row is like this.</p>`
  const asked = Number(query.get('after') ?? 0)
  const after = Number.isInteger(asked) && asked > 0 && asked < rows.length ? asked : 0
  const end = Math.min(rows.length, after + PAGE_ROWS)
  return html`<table class="list compared stacks"><thead><tr><th scope="col"><span class="hidden-label">Presence</span></th><th scope="col" class="free">Span</th><th scope="col">Label</th><th scope="col">Status</th><th scope="col" class="figure">Left</th><th scope="col" class="figure">Right</th><th scope="col">Difference</th></tr></thead><tbody>
${rows.slice(after, end).map((row) => tableRow(compared, row))}</tbody></table>
${pages(query, after, end, rows.length)}`
}

const isChanged = ({ presence, status_changed, label_changed }: ComparedRow): boolean =>
  presence !== 'both' || status_changed || label_changed

const tests = new Map<string, (row: ComparedRow) => boolean>([
  ['changed', isChanged],
  ['slower', ({ duration_delta_ns }) => duration_delta_ns !== null && duration_delta_ns > 0n],
  ['left', ({ presence }) => presence === 'left'],
  ['right', ({ presence }) => presence === 'right'],
  ['tool', ({ label_changed }) => label_changed],
])

const signs = { both: '', left: '−', right: '+' } as const
const wordsFor = { both: '', left: 'only left', right: 'only right' } as const

const tableRow = ({ left, right }: Comparison, row: ComparedRow): Html => html`<tr id="row-${row.key}" data-row>
<td>${row.presence === 'both' ? isChanged(row) && html`<span class="warning" title="changed">~</span>` : html`<span class="warning" title="${wordsFor[row.presence]}">${signs[row.presence]}</span>`}</td>
<th scope="row">${numbered(row.key, KEY_CHARS)}</th>
<td>${labels(row)}</td>
<td>${statuses(row)}</td>
<td class="figure">${took(left.trace_id, row.left)}</td><td class="figure">${took(right.trace_id, row.right)}</td>
<td>${row.presence === 'both' ? row.duration_delta_ns !== null && slowerText(row.duration_delta_ns) : wordsFor[row.presence]}</td></tr>
`

const labels = ({ left, right, label_changed }: ComparedRow): Html => {
  const one = left?.label ?? right?.label ?? ''
  return label_changed
    ? html`${middleEllipsis(left?.label ?? 'none', 30)} → ${middleEllipsis(right?.label ?? 'none', 30)}`
    : html`${middleEllipsis(one, 40)}`
}

const statuses = ({ left, right, status_changed }: ComparedRow): Html => {
  if (status_changed && left !== null && right !== null)
    return html`${statusMark(left.status)} → ${statusMark(right.status)}`
  return statusMark((left ?? right)?.status ?? '')
}

const took = (trace_id: string, span: ComparedSpan | null): Html => {
  if (span === null) return html`<span class="quiet">–</span>`
  return html`<a href="${spanUrl(trace_id, span.span_id)}">${span.duration_ns === null ? 'running' : durationText(span.duration_ns)}</a>`
}

const pages = (query: URLSearchParams, after: number, end: number, count: number): Html => {
  if (count <= PAGE_ROWS) return html``
  const link = (to: number) => linked('/replay/compare', query, { after: String(to) })
  return html`<nav class="pages" aria-label="Rows">${after > 0 && html`<a href="${link(Math.max(0, after - PAGE_ROWS))}">← before</a>`}
<span class="quiet">${after + 1} to ${end} of ${count}</span>
${end < count && html`<a href="${link(end)}">behind →</a>`}</nav>`
}
