import type { Gateway } from 'guard-gateway/core'
import { costText, countText, durationText } from 'guard-gateway/lib/format'
import { costHead, type Html, html } from 'guard-gateway/lib/html'
import type { Ask } from 'guard-gateway/lib/page'
import { repeatsOf } from '../../read/compare/repeats.ts'
import type { ComparedRow, ComparedSpan, Comparison } from '../../read/compare.ts'
import { middleEllipsis, numbered, spanUrl, statusMark } from '../format.ts'
import { linked } from '../links.ts'
import { costDelta, moreText, slowerText } from './compared-sums.ts'

const PAGE_ROWS = 300
const KEY_CHARS = 60

/** Paired spans of both runs, filtered by `rows`; what repeats is one row until it is unfolded. */
export const comparedRows = (gateway: Gateway, { query }: Ask, compared: Comparison): Html => {
  const wanted = tests.get(query.get('rows') ?? '') ?? (() => true)
  const groups = repeatsOf(compared.spans.filter(wanted))
  if (groups.length === 0) return html`<p class="empty">No row is like this.</p>`
  const unfolded = new Set(query.getAll('unfold'))
  const rows = groups.flatMap((group) =>
    group.length < LEAST_FOLDED || unfolded.has(group[0].key)
      ? group.map((row, at): Line => ({ row, group: at === 0 && group.length >= LEAST_FOLDED ? group : undefined }))
      : [{ row: group[0], group, folded: true }],
  )
  const asked = Number(query.get('after') ?? 0)
  const after = Number.isInteger(asked) && asked > 0 && asked < rows.length ? asked : 0
  const end = Math.min(rows.length, after + PAGE_ROWS)
  return html`<table class="list compared stacks"><thead><tr><th scope="col"><span class="hidden-label">Presence</span></th><th scope="col" class="free">Step</th><th scope="col">Tool or model</th><th scope="col">Status</th><th scope="col" class="figure">Left</th><th scope="col" class="figure">Right</th><th scope="col" class="figure">Time</th><th scope="col" class="figure">Tokens</th><th scope="col" class="figure">${costHead(gateway)}</th></tr></thead><tbody>
${rows.slice(after, end).map((line) => tableRow(query, compared, line))}</tbody></table>
${pages(query, after, end, rows.length)}`
}

/** A row, and the rows that tell the same if it is their first. */
interface Line {
  readonly row: ComparedRow
  readonly group: readonly ComparedRow[] | undefined
  readonly folded?: boolean
}

const LEAST_FOLDED = 3

const isChanged = ({ presence, status_changed, label_changed, arguments_changed }: ComparedRow): boolean =>
  presence !== 'both' || status_changed || label_changed || arguments_changed

const tests = new Map<string, (row: ComparedRow) => boolean>([
  ['changed', isChanged],
  ['slower', ({ duration_delta_ns }) => duration_delta_ns !== null && duration_delta_ns > 0n],
  ['left', ({ presence }) => presence === 'left'],
  ['right', ({ presence }) => presence === 'right'],
  ['tool', ({ label_changed }) => label_changed],
])

const signs = { both: '', left: '−', right: '+' } as const
const wordsFor = { both: '', left: 'only left', right: 'only right' } as const

const tableRow = (query: URLSearchParams, { left, right }: Comparison, { row, group, folded }: Line): Html => {
  const rows = folded === true ? (group ?? [row]) : [row]
  return html`<tr id="row-${row.key}" data-row class="${row.presence}">
<td>${row.presence === 'both' ? isChanged(row) && html`<span class="warning" title="changed">~</span>` : html`<span class="warning" title="${wordsFor[row.presence]}">${signs[row.presence]}</span>`}</td>
<th scope="row">${numbered(row.key.replace(/^\+/, ''), KEY_CHARS)}${group !== undefined && repeatMark(query, row, group.length, folded === true)}</th>
<td>${labels(row)}${changes(row)}</td>
<td>${statuses(row)}</td>
<td class="figure">${took(left.trace_id, rows, 'left')}</td><td class="figure">${took(right.trace_id, rows, 'right')}</td>
<td class="figure">${row.presence === 'both' ? slowerText(sumOf(rows, ({ duration_delta_ns }) => duration_delta_ns)) : wordsFor[row.presence]}</td>
<td class="figure">${figure(rows, ({ tokens_delta }) => tokens_delta, 'tokens', moreText)}</td>
<td class="figure">${figure(rows, ({ cost_delta_micro }) => cost_delta_micro, 'cost_micro', costDelta)}</td></tr>
`
}

/** How many rows a row stands for, as a link that shows or hides the others. */
const repeatMark = (query: URLSearchParams, { key }: ComparedRow, count: number, folded: boolean): Html => {
  const others = query.getAll('unfold').filter((other) => other !== key)
  const next = new URLSearchParams(query)
  next.delete('unfold')
  for (const other of folded ? [...others, key] : others) next.append('unfold', other)
  const label = folded ? `Show all ${count} steps` : `Fold ${count} steps`
  return html` <a class="equal-steps" href="${linked('/replay/compare', next)}#row-${encodeURIComponent(key)}" aria-expanded="${String(!folded)}" aria-label="${label}">×${count}</a>`
}

const sumOf = (rows: readonly ComparedRow[], of: (row: ComparedRow) => bigint | null): bigint =>
  rows.reduce((sum, row) => sum + (of(row) ?? 0n), 0n)

/** A difference of a figure; of what only one side has, the figure. */
const figure = (
  rows: readonly ComparedRow[],
  delta: (row: ComparedRow) => bigint | null,
  name: 'tokens' | 'cost_micro',
  deltaText: (delta: bigint) => string,
): Html => {
  const [{ presence } = { presence: 'both' }] = rows
  if (presence === 'both') return html`${deltaText(sumOf(rows, delta))}`
  const own = sumOf(rows, ({ left, right }) => (left ?? right)?.[name] ?? null)
  if (own === 0n) return html``
  return html`${name === 'tokens' ? countText(own) : costText(own)}`
}

const MAX_ATTRIBUTES = 3

const plainNames = new Map([['guard.fingerprint', 'request']])

/** What else changed of a pair. */
const changes = ({ label_changed, arguments_changed, attributes_changed, attribute_changes }: ComparedRow): Html => {
  if (arguments_changed) return html` <span class="warning">other arguments</span>`
  if (label_changed || attributes_changed.length === 0) return html``
  const [shown, rest] = [attributes_changed.slice(0, MAX_ATTRIBUTES), attributes_changed.length - MAX_ATTRIBUTES]
  return html` <span class="quiet" title="${attribute_changes.map(({ name, left, right }) => `${name}: ${left ?? 'none'} → ${right ?? 'none'}`).join('\n')}">other ${shown.map((name) => plainNames.get(name) ?? name).join(', ')}${rest > 0 && ` and ${rest} more`}</span>`
}

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

const took = (trace_id: string, rows: readonly ComparedRow[], side: 'left' | 'right'): Html => {
  const span = rows[0]?.[side] ?? null
  if (span === null) return html`<span class="quiet">–</span>`
  return html`<a href="${spanUrl(trace_id, span.span_id)}">${tookText(
    span,
    sumOf(rows, (row) => row[side]?.duration_ns ?? null),
  )}</a>`
}

const tookText = ({ duration_ns, status }: ComparedSpan, all_ns: bigint): string => {
  if (duration_ns !== null) return durationText(all_ns)
  return status === 'running' ? 'running' : 'not known'
}

const pages = (query: URLSearchParams, after: number, end: number, count: number): Html => {
  if (count <= PAGE_ROWS) return html``
  const link = (to: number) => linked('/replay/compare', query, { after: String(to) })
  return html`<nav class="pages" aria-label="Rows">${after > 0 && html`<a href="${link(Math.max(0, after - PAGE_ROWS))}">← previous</a>`}
<span class="quiet">${after + 1} to ${end} of ${count}</span>
${end < count && html`<a href="${link(end)}">next →</a>`}</nav>`
}
