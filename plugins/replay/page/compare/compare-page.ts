import { type Gateway, GuardError, type Reader } from 'guard-gateway/core'
import { costText, countText, durationText } from '#lib/format'
import { costHead, type Html, html, raw } from '#lib/html'
import type { Ask, Page } from '#lib/page'
import { queryTokens } from '#lib/text'
import { runSummary } from '#lib/trace-file'
import { replayErrors } from '../../error-codes.ts'
import { repeatsOf } from '../../read/compare/first-difference.ts'
import {
  type Alignment,
  alignments,
  type ComparedRow,
  type ComparedSpan,
  type Comparison,
  compare,
} from '../../read/compare.ts'
import { runById } from '../../read/run.ts'
import type { RunCache } from '../../read/run-cache.ts'
import { urlOf } from '../../run-address.ts'
import type { RunRow } from '../../tables.ts'
import { firstSteps, unnamedTitle } from '../first-steps.ts'
import {
  costMark,
  countMark,
  durationMark,
  middleEllipsis,
  numbered,
  runDuration,
  spanUrl,
  statusMark,
  timeMark,
  titleOf,
} from '../format.ts'
import { linked } from '../links.ts'
import { comparedSums, costDelta, moreText, slowerText } from './compared-sums.ts'

/** Comparison of two runs: totals, then spans. Throws RUN_NOT_FOUND. */
export const comparePage = (gateway: Gateway, cache: RunCache): Page => ({
  id: 'replay/compare',
  path: '/replay/compare',
  render: async (ask) => {
    const { left, right } = pairIn(ask)
    if (left === undefined || right === undefined)
      return { title: 'Compare · Replay', main: await chooseRun(gateway, ask, left ?? right, left !== undefined) }
    const first = await cache.trace(left)
    const second = left === right ? first : await cache.trace(right)
    const compared = await compare(first, second, alignmentIn(ask.query))
    const titles = await Promise.all(
      [first.run, second.run].map(async (run) =>
        titleOf(run, run.name === null ? await unnamedTitle(gateway.storage, run) : undefined),
      ),
    )
    return { title: `${titles.join(' and ')} · Compare`, main: mainOf(gateway, ask, compared, titles) }
  },
})

interface Pair {
  readonly left: string | undefined
  readonly right: string | undefined
}

/** The named sides, or the two runs selected in the list, which shows the newer one first. Throws INVALID_COMPARE. */
const pairIn = ({ query }: Ask): Pair => {
  const chosen = query.getAll('run')
  if (chosen.length > 2)
    throw new GuardError(replayErrors.INVALID_COMPARE, `Choose two runs to compare, not ${chosen.length}.`, {
      path: '/run',
    })
  const [newer, older] = chosen
  return {
    left: query.get('left') || older || newer,
    right: query.get('right') || (older === undefined ? undefined : newer),
  }
}

const alignmentIn = (query: URLSearchParams): Alignment =>
  alignments.find((known) => known === query.get('align')) ?? 'sequence'

const mainOf = (gateway: Gateway, ask: Ask, compared: Comparison, titles: readonly string[]): Html => {
  const { left, right, warnings } = compared
  const swapped = linked('/replay/compare', ask.query, { run: null, left: right.trace_id, right: left.trace_id })
  return html`<div class="head"><h1>Compare</h1><p class="acts"><a href="${swapped}">Swap sides</a></p></div>
${warnings.map(({ message }) => html`<p class="warning">${message}</p>`)}
<div class="sides">${side(ask, left, 'Left', titles[0] ?? '')}${side(ask, right, 'Right', titles[1] ?? '')}</div>
${partingText(compared)}
${comparedSums(gateway, compared)}
${rowChips(ask, compared)}
${comparedRows(gateway, ask, compared)}`
}

const side = ({ now }: Ask, run: Comparison['left'], label: string, title: string): Html =>
  html`<section aria-label="${label}"><h2><span class="quiet">${label}</span> <a href="${urlOf(run.trace_id)}">${title}</a></h2>
<p>${statusMark(run.status)}${run.failure_tag !== null && html` · ${run.failure_tag}`} · ${timeMark(run.start_ns, now)} <span class="quiet">${run.agent_name} ${run.project_id}</span></p></section>`

/** Where the runs part, with links to both sides. */
const partingText = ({ left, right, first_difference: first }: Comparison): Html => {
  if (first === null) return html`<p class="parting">Both took the same steps.</p>`
  const link = (trace_id: string, span_id: string | null, label: string) =>
    span_id === null ? html`` : html` <a href="${spanUrl(trace_id, span_id)}">${label}</a>`
  return html`<p class="parting"><strong>${first.text}</strong>${link(left.trace_id, first.left_span_id, 'left')}${link(right.trace_id, first.right_span_id, 'right')}</p>`
}

const chips = ['all', 'changed', 'slower', 'left', 'right', 'tool'] as const

/** Links that filter the rows, and that pair them in another way. */
const rowChips = ({ query }: Ask, { left, right, summary }: Comparison): Html => {
  const labels = {
    all: 'All',
    changed: 'Changed',
    slower: 'Slower',
    left: `Only left (${summary.left_only})`,
    right: `Only right (${summary.right_only})`,
    tool: `Other tool or model (${summary.label_changed})`,
  }
  const sides = { run: null, left: left.trace_id, right: right.trace_id, after: null }
  const chosen = query.get('rows') ?? 'all'
  const chosenAlignment = alignmentIn(query)
  return html`<div class="chips"><nav class="chips" aria-label="Rows">${chips.map(
    (name) =>
      html`<a href="${linked('/replay/compare', query, { ...sides, rows: name === 'all' ? null : name })}"${name === chosen ? raw` aria-current="true"` : ''}>${labels[name]}</a>`,
  )}</nav><nav class="chips aside" aria-label="Pairing">${alignments
    .toReversed()
    .map(
      (align) =>
        html`<a href="${linked('/replay/compare', query, { ...sides, align: align === 'sequence' ? null : align })}"${align === chosenAlignment ? raw` aria-current="true"` : ''}>${alignmentNames[align]}</a>`,
    )}</nav></div>`
}

const alignmentNames = { sequence: 'As sequences', label: 'By name and label', name: 'By name' } as const

const PAGE_ROWS = 300
const KEY_CHARS = 60

/** Paired spans of both runs, filtered by `rows`; what repeats is one row until it is unfolded. */
const comparedRows = (gateway: Gateway, { query }: Ask, compared: Comparison): Html => {
  const isSelected = tests.get(query.get('rows') ?? '') ?? (() => true)
  const groups = repeatsOf(compared.spans.filter(isSelected))
  if (groups.length === 0) return html`<p class="empty">No row is like this.</p>`
  const unfolded = new Set(query.getAll('unfold'))
  const rows = groups.flatMap((group) =>
    group.length < LEAST_FOLDED || unfolded.has(group[0].key)
      ? group.map((row, at): Line => ({ row, group: at === 0 && group.length >= LEAST_FOLDED ? group : undefined }))
      : [{ row: group[0], group, folded: true }],
  )
  const requested = Number(query.get('after') ?? 0)
  const after = Number.isInteger(requested) && requested > 0 && requested < rows.length ? requested : 0
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

/** Page to choose the other run among those of the project. Without a run, it explains how to choose two. Throws RUN_NOT_FOUND. */
const chooseRun = async (gateway: Gateway, ask: Ask, chosen: string | undefined, isLeft: boolean): Promise<Html> => {
  if (chosen === undefined)
    return html`<h1>Compare</h1><p class="empty">No run is chosen. Mark two in <a href="/replay">the list of runs</a>.</p>`
  const { storage } = gateway
  const run = await runById(storage, chosen)
  const words = ask.query.get('q')?.trim() ?? ''
  const { rows: others, more } = await runsToCompare(storage, run, words)
  const [steps, own] = await Promise.all([
    firstSteps(storage, others),
    run.name === null ? unnamedTitle(storage, run) : undefined,
  ])
  const isSame = (other: RunRow) => isSameTask(run, other)
  const link = (trace_id: string) =>
    linked('/replay/compare', ask.query, {
      run: null,
      q: null,
      left: isLeft ? chosen : trace_id,
      right: isLeft ? trace_id : chosen,
    })
  const side = isLeft ? 'left' : 'right'
  return html`<h1>Compare</h1>
<p>Compare <a href="${urlOf(chosen)}">${titleOf(run, own)}</a> with a run of project ${run.project_id}:</p>
<form class="filters" action="/replay/compare" role="search"><input type="hidden" name="${side}" value="${chosen}"><label>Find runs<input type="search" name="q" value="${words}" size="32" placeholder="name, task, model, word, id"></label><button>Find</button>${words !== '' && html` <a class="clear" href="${linked('/replay/compare', ask.query, { q: null })}">Clear</a>`}</form>
${
  others.length === 0
    ? html`<p class="empty">${words === '' ? 'It is the only run of its project.' : 'No other run of the project has these words.'}</p>`
    : html`<table class="list stacks"><thead><tr><th scope="col">Time</th><th scope="col" class="free">Run</th><th scope="col">Status</th><th scope="col" class="figure">Duration</th><th scope="col" class="figure">Tokens</th><th scope="col" class="figure">${costHead(gateway)}</th></tr></thead><tbody>
${others.map((row) => {
  const other = runSummary(row)
  return html`<tr id="run-${other.trace_id}" data-row><td>${timeMark(other.recorded_ns, ask.now)}</td><th scope="row"><a href="${link(other.trace_id)}"><bdi>${middleEllipsis(titleOf(other, steps.get(other.trace_id)))}</bdi></a> <span class="quiet"><bdi>${other.agent_name}</bdi>${isSame(row) && ' same task'}</span></th><td>${statusMark(other.status)}</td><td class="figure">${durationMark(runDuration(other, ask.now))}</td><td class="figure">${countMark(other.total_tokens)}</td><td class="figure">${costMark(other.cost_micro)}</td></tr>`
})}</tbody></table>
${more && html`<p class="quiet">Those of the same task, then the newest, ${MAX_CHOICES} in all; find others above, or mark two of any age in <a href="/replay?project_id=${encodeURIComponent(run.project_id)}">the list of runs</a>.</p>`}`
}`
}

/** Runs that are offered for a comparison at most. */
const MAX_CHOICES = 50

/** Runs to compare a run with: those of its project that hold the words, those of the same task first. `more`: there are others. */
const runsToCompare = async (
  storage: Reader,
  run: RunRow,
  words: string,
): Promise<{ readonly rows: readonly RunRow[]; readonly more: boolean }> => {
  const tokens = queryTokens(words)
  const [alike, newest] = await Promise.all([runsOfTask(storage, run, tokens), find(storage, run, tokens)])
  const rows = new Map([...alike, ...newest.rows].map((row) => [row.trace_id, row]))
  rows.delete(run.trace_id)
  const all = [...rows.values()]
  return { rows: all.slice(0, MAX_CHOICES), more: newest.next_cursor !== null || all.length > MAX_CHOICES }
}

const find = (storage: Reader, { project_id }: RunRow, search: readonly string[]) =>
  storage.find('runs', {
    where: { project_id },
    ...(search.length === 0 ? {} : { search }),
    limit: MAX_CHOICES + 1,
  })

/** Newest runs of the same task, by the search index, which holds names and tasks. */
const runsOfTask = async (storage: Reader, run: RunRow, tokens: readonly string[]): Promise<readonly RunRow[]> => {
  const title = queryTokens(run.task_id ?? run.name ?? '')
  if (title.length === 0) return []
  const { rows } = await find(storage, run, [...title, ...tokens])
  return rows.filter((other) => isSameTask(run, other))
}

/** Both do the same task; of runs without one, both have the same name. */
const isSameTask = (one: RunRow, other: RunRow): boolean =>
  one.task_id === null && other.task_id === null
    ? one.name !== null && one.name === other.name
    : one.task_id === other.task_id
