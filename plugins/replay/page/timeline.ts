import type { Gateway } from 'guard-gateway/core'
import { durationText } from 'guard-gateway/lib/format'
import { costHead, type Html, html } from 'guard-gateway/lib/html'
import type { Ask } from 'guard-gateway/lib/page'
import type { Trace } from 'guard-gateway/lib/trace'
import { spanDetails } from './details.ts'
import { runLink } from './folding.ts'
import { rowId } from './format.ts'
import { overview } from './overview.ts'
import { timelineRow } from './timeline-row.ts'
import { timelineTools } from './timeline-tools.ts'
import { LONG_ROWS, type TimelineView, timelineView } from './timeline-view.ts'
import { isFullRange, percentOf, ticksOf, type Window } from './window.ts'

/** Timeline and the selected span. `part=details` omits everything else, `part=frame` only the rows: the script has them already. */
export const timeline = (gateway: Gateway, trace: Trace, ask: Ask): Html => {
  const view = timelineView(trace, ask.query, ask.now)
  const tools = timelineTools(view, ask)
  if (ask.query.get('part') === 'details') return html`${tools}${spanDetails(gateway, view)}`
  return html`${tools}
<div class="panes">
<div class="spans">
${overview(gateway, view)}
${long(view)}
<table id="timeline" class="timeline" aria-rowcount="${view.visible.length}"${isLong(view) && html` data-rows="${view.tree.spans.length}"${!isFullRange(view.window) && html` data-zoomed`}`} data-selected="${selectedRow(view)}" data-origin="${view.window.origin_ns}" data-from="${view.window.from}" data-to="${view.window.to}"${view.matches !== undefined && html` data-finding`}${placesFor(view)}>
<thead><tr><th scope="col">Span</th><th scope="col" class="track"><span class="hidden-label">Time</span>${ticks(view.window)}</th><th scope="col" class="figure">Duration</th><th scope="col" class="figure">Tokens</th><th scope="col" class="figure">${costHead(gateway)}</th><th scope="col">Status</th></tr></thead>
<tbody>
${(ask.query.get('part') !== 'frame' || !isLong(view)) && view.rows.map((row) => timelineRow(view, row))}</tbody>
</table>
${pages(view)}
</div>
${spanDetails(gateway, view)}
</div>`
}

const ticks = (window: Window): Html => {
  const placed = ticksOf(window).map((at) => [at, percentOf(window, window.origin_ns + at)] as const)
  return html`<div class="axis"><svg class="ticks" height="16" aria-hidden="true">${placed
    .filter(([, percent]) => percent <= LAST_TICK_PERCENT)
    .map(([at, percent]) => html`<text x="${percent.toFixed(2)}%" y="12">${tickText(at)}</text>`)}</svg></div>`
}

/** A later label would be clipped. */
const LAST_TICK_PERCENT = 84

/** A round time without a zero remainder: `10 min`. */
const tickText = (ns: bigint): string => (ns === 0n ? '0' : durationText(ns).replace(/ 00 \w+$|\.0(?= )/, ''))

const isLong = ({ tree }: TimelineView): boolean => tree.spans.length > LONG_ROWS

const selectedRow = ({ trace, selected }: TimelineView): string => rowId(trace.spans[selected]?.id ?? '')

/** Data for the script that marks rows of a long run, by their place among the rows of the window. */
const placesFor = ({ query, matches, shape, tree }: TimelineView): Html => {
  if (!query.has('all')) return html``
  const placed = (isMarked: (at: number) => boolean): string =>
    tree.spans.flatMap(({ id }, row) => (isMarked(shape.places.get(id) ?? -1) ? [row] : [])).join(',')
  return html` data-critical="${placed((at) => shape.critical[at] === 1)}"${matches !== undefined && html` data-matches="${placed((at) => matches.has(at))}"`}`
}

/** Replaces the first rows of a long run by all rows, with a script only. */
const long = (view: TimelineView): Html => {
  if (!isLong(view)) return html``
  const count = view.tree.spans.length.toLocaleString('en')
  const where = isFullRange(view.window) ? 'spans' : 'spans in this range'
  return html`<p class="long">${count} ${where}, ${view.page} on a page. <a id="load-all" hidden href="${runLink(view.query, { all: '1', after: null })}">Load all ${count}</a></p>`
}

const pages = ({ visible, rows, after, page, query }: TimelineView): Html => {
  if (visible.length <= page) return html``
  const end = after + rows.length
  const link = (to: number, label: string) =>
    html`<a href="${runLink(query, { after: String(to), span: null, all: null })}">${label}</a>`
  return html`<nav class="pages" id="pages" aria-label="Rows">${after > 0 && link(Math.max(0, after - page), '← rows before')}
<span class="quiet">rows ${(after + 1).toLocaleString('en')} to ${end.toLocaleString('en')} of ${visible.length.toLocaleString('en')}</span>
${end < visible.length && link(end, 'rows after →')}</nav>`
}
