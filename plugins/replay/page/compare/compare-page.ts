import { type Gateway, GuardError } from 'guard-gateway/core'
import { type Html, html, raw } from 'guard-gateway/lib/html'
import type { Ask, Page } from 'guard-gateway/lib/page'
import { replayErrors } from '../../error-codes.ts'
import { type Alignment, alignments, type Comparison, compare } from '../../read/compare.ts'
import type { RunCache } from '../../read/run-cache.ts'
import { urlOf } from '../../run-address.ts'
import { unnamedTitle } from '../first-steps.ts'
import { spanUrl, statusMark, timeMark, titleOf } from '../format.ts'
import { linked } from '../links.ts'
import { chooseRun } from './choose-run.ts'
import { comparedRows } from './compared-rows.ts'
import { comparedSums } from './compared-sums.ts'

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
