import { type Gateway, spanKinds } from 'guard-gateway/core'
import { costText, durationText, timeText } from '#lib/format'
import { costHead, costUnit, type Html, html, raw } from '#lib/html'
import type { Ask } from '#lib/page'
import type { Trace, TraceEvent, TreeSpan } from '#lib/trace'
import { spanRecord } from '#lib/trace-file'
import { countedSpans } from '../read/counted-spans.ts'
import { decisionIn } from '../read/decisions.ts'
import { cachedTokensOf } from '../read/model-tokens.ts'
import { errorOf } from '../read/span-error.ts'
import { endOf, isFailed, isUnseen, isUpperBound } from '../read/span-time.ts'
import { decisionLine } from './decisions.ts'
import { closeAll, openAll, runLink } from './folding.ts'
import { costMark, counted, countMark, durationMark, numbered, rowId, sinceText, statusMark } from './format.ts'
import type { Changes } from './links.ts'
import { neighbours } from './search.ts'
import { spanTitle } from './shape.ts'
import { alsoSeen, kindMark, timelineRow } from './timeline-row.ts'
import { LONG_ROWS, type TimelineView, timelineView } from './timeline-view.ts'
import { attributeTable, idMark, valueMark } from './values.ts'
import { isFullRange, middleOf, percentOf, ticksOf, type Window, zoomed } from './window.ts'

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

/** Details of the selected span. */
const spanDetails = (gateway: Gateway, { trace, shape, selected }: TimelineView): Html => {
  const span = trace.spans[selected]
  if (span === undefined) return html`<section id="details" class="details"></section>`
  const { start_ns } = trace.run
  const error = errorOf(span)
  return html`<section id="details" class="details" aria-label="Span">
<h2>${kindMark(span.kind)} ${numbered(spanTitle(shape, span))}${span.label !== null && html` <span class="quiet">${span.label}</span>`}</h2>
<p class="sums">${sumsOf(gateway, span, start_ns)}</p>
${error !== undefined && html`<div class="said">${valueMark(error)}</div>`}
${span.also_seen !== undefined && html`<p class="quiet">One call, ${alsoSeen(span.also_seen)}: ${span.also_seen.map(({ id }) => html`<code>${id}</code> `)}</p>`}
${span.declared_parent_id !== undefined && html`<p class="quiet">Its parent <code>${span.declared_parent_id}</code> has not come, or is below it.</p>`}
${eventsOf(span, start_ns)}
<h3>Attributes (${Object.keys(span.attributes).length})</h3>
${attributeTable(span.attributes)}
<p>Span ${idMark(span.id)} <button class="plain" data-copy="url">Copy link</button></p>
<details><summary>Raw</summary><pre>${indented({ ...spanRecord(span), events: span.events })}</pre></details>
</section>`
}

const sumsOf = (gateway: Gateway, span: TreeSpan, start_ns: bigint): Html => {
  const { input_tokens, output_tokens, cost_micro } = span
  const cached = cachedTokensOf(span) ?? 0n
  return html`${statusMark(span.status)} · ${tookOf(span)} · from ${durationText(span.start_ns - start_ns)}${
    (input_tokens !== null || output_tokens !== null) &&
    html` · ${countMark(input_tokens ?? 0n)} tokens in${cached > 0n && html` (${countMark(cached)} cached)`}, ${countMark(output_tokens ?? 0n)} out`
  }${cost_micro !== null && cost_micro > 0n && html` · ${costMark(cost_micro)} ${costUnit(gateway)}`}`
}

const tookOf = (span: TreeSpan): Html => {
  if (isUnseen(span)) return html`duration not known`
  if (span.end_ns === null) return html`not ended`
  return html`${isUpperBound(span) && 'at most '}${durationMark(span.end_ns - span.start_ns)}`
}

const eventsOf = ({ events }: TreeSpan, start_ns: bigint): Html => {
  if (events.length === 0) return html``
  return html`<h3>Events (${events.length})</h3>
<ol class="events">${events.map((event) => eventItem(event, start_ns))}</ol>`
}

const eventItem = (event: TraceEvent, start_ns: bigint): Html => {
  const decision = decisionIn(event)
  return html`<li id="event-${event.id}"><p><span class="quiet" title="${instantText(event.time_ns)}">${sinceText(event.time_ns - start_ns)}</span> ${event.name}${event.severity === 'error' && html` <span class="error">✕ error</span>`}</p>
${decision !== undefined && html`<p>${decisionLine(decision)}</p>`}
<details><summary>${counted(Object.keys(event.attributes).length, 'attribute')}</summary>${attributeTable(event.attributes)}</details></li>`
}

/** A time with nanoseconds, UTC. */
const instantText = (ns: bigint): string => {
  const ms = Number(ns / 1_000_000n)
  return `${timeText(ms, 0)}.${String(ns % 1_000_000_000n).padStart(9, '0')} UTC`
}

const RETAINED_PARAMS = ['closed', 'open', 'unfolded', 'from', 'to', 'all']

/** Search, navigation, folding and zoom as links and one form, with keyboard shortcuts. */
const timelineTools = (view: TimelineView, ask: Ask): Html => {
  const { query } = view
  return html`<div id="tools" class="tools">
<form action="${ask.url.replace(/[?#].*$/s, '')}" role="search" class="find">
<label><span class="hidden-label">Find spans</span><input type="search" name="find" value="${query.get('find') ?? ''}" placeholder="find spans"></label>
${RETAINED_PARAMS.map((name) => query.has(name) && html`<input type="hidden" name="${name}" value="${query.get(name)}">`)}
${[...view.search.kinds].map((kind) => html`<input type="hidden" name="kind" value="${kind}">`)}
<button>Find</button>${found(view)}
</form>
<p class="kinds">${kindLinks(view)}</p>
<p class="zoom">${errorLink(view)}${foldLinks(view)}${zoomLinks(view)}</p>
</div>`
}

const key = (name: string) => html` data-key="${name}"`

const step = ({ query, trace }: TimelineView, place: number | undefined, label: string, name: string): Html => {
  const span = place === undefined ? undefined : trace.spans[place]
  if (span === undefined) return html``
  return html`<a href="${runLink(query, { span: span.id, after: null }, rowId(span.id))}"${key(name)} title="key ${name}">${label}</a> `
}

const found = (view: TimelineView): Html => {
  const { matches, selected, query } = view
  if (matches === undefined) return html``
  const { next, before, position } = neighbours(matches, selected)
  return html` <span class="found" role="status">${position > 0 ? `${position} of ${matches.size}` : matches.size === 1 ? '1 match' : `${matches.size} matches`}</span>
${step(view, before, '↑ previous', 'b')}${step(view, next, '↓ next', 'n')}<a href="${runLink(query, { find: null, kind: null })}">clear</a>`
}

/** Filter links for the kinds of the run; unselected ones are dimmed. */
const kindLinks = ({ trace, query, search }: TimelineView): readonly Html[] => {
  const present = spanKinds.filter((kind) => trace.spans.some((span) => span.kind === kind))
  if (present.length < 2) return []
  return present.map((kind) => {
    const chosen = search.kinds.has(kind)
    const kinds = chosen ? [...search.kinds].filter((one) => one !== kind) : [...search.kinds, kind]
    const bare = runLink(query, { kind: null })
    const href = [bare === '?' ? '' : bare.slice(1), ...kinds.map((one) => `kind=${one}`)]
      .filter((part) => part !== '')
      .join('&')
    return html`<a href="?${href}"${chosen ? raw` aria-current="true"` : ''}>${kindMark(kind)} ${kind}</a> `
  })
}

const errorLink = (view: TimelineView): Html => {
  const errors = view.trace.spans.flatMap(({ status, depth }, at) => (status === 'error' && depth > 0 ? [at] : []))
  return errors.length === 0
    ? html``
    : step(view, neighbours(errors, view.selected).next, `next error (${errors.length})`, 'e')
}

const foldLinks = ({ trace, query }: TimelineView): Html => {
  if (!trace.spans.some(({ depth }) => depth > 1)) return html``
  const link = (changes: Changes, name: string, label: string) =>
    html`<a href="${runLink(query, changes)}"${key(name)} title="key ${name}">${label}</a> `
  return html`${link(closeAll, '[', 'collapse')}${link(openAll, ']', 'expand')}`
}

const zoomLinks = ({ query, window, trace, selected }: TimelineView): Html => {
  const span = query.has('span') ? trace.spans[selected] : undefined
  const chosen = span && middleOf(window, span)
  const to = (closer: boolean): string => {
    const { from, to: end } = zoomed(window, closer, closer ? chosen : undefined)
    const whole = from === 0n && end === window.length_ns
    return runLink(query, {
      after: null,
      ...(whole ? { from: null, to: null } : { from: String(from), to: String(end) }),
    })
  }
  return html`<a href="${to(true)}"${key('+')} title="key +" aria-label="Zoom in">zoom +</a> ${
    !isFullRange(window) &&
    html`<a href="${to(false)}"${key('-')} title="key -" aria-label="Zoom out">−</a> <a href="${runLink(query, { from: null, to: null, after: null })}"${key('0')} title="key 0">whole run</a>`
  }`
}

const CELLS = 240
const LANES = 5
const LANE_HEIGHT = 6
const HEIGHT = LANES * LANE_HEIGHT

/** Overview of the whole run, one lane per level, with the cost that has run up. Errors have priority; the window of the timeline is framed. */
const overview = (gateway: Gateway, view: TimelineView): Html => {
  const { window, trace } = view
  const lanes = lanesOf(trace.spans, window)
  const rects = lanes.flatMap((lane, level) => runsIn(lane).map(({ from, to, kind }) => rect(level, from, to, kind)))
  return html`<svg id="overview" class="overview" height="${HEIGHT}" data-length="${window.length_ns}" aria-hidden="true"><defs><pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="error" width="2.5" height="5"/></pattern></defs>${rects}${costLine(trace, window)}${!isFullRange(window) && frame(window)}</svg>
${trace.run.cost_micro > 0n && html`<p class="quiet rising"><svg width="24" height="8" aria-hidden="true"><path d="M0 7h8V4h8V1h8"/></svg> ${upTo(gateway, trace.run.cost_micro)}</p>`}`
}

/** What the line of the running cost ends at. */
const upTo = (gateway: Gateway, cost_micro: bigint): string => {
  const unit = costUnit(gateway)
  return `cost up to ${costText(cost_micro)}${unit === 'cost' ? '' : ` ${unit}`}`
}

/** The running cost as a line from nothing to all of it, a step where a request ends. */
const costLine = ({ spans }: Trace, { origin_ns, length_ns }: Window): Html => {
  const costs = new Float64Array(CELLS)
  let all = 0
  for (const { cost_micro, start_ns, end_ns } of countedSpans(spans)) {
    if (cost_micro === null) continue
    const cell = cellOf((end_ns ?? start_ns) - origin_ns, length_ns)
    costs[cell] = (costs[cell] ?? 0) + Number(cost_micro)
    all += Number(cost_micro)
  }
  if (all === 0) return html``
  let [sum, path] = [0, `M0 ${HEIGHT - 1}`]
  for (const [cell, cost] of costs.entries()) {
    if (cost === 0) continue
    sum += cost
    path += `H${cell}V${(HEIGHT - 1 - ((HEIGHT - 2) * sum) / all).toFixed(1)}`
  }
  return html`<svg viewBox="0 0 ${CELLS} ${HEIGHT}" width="100%" height="${HEIGHT}" preserveAspectRatio="none"><path class="cost" d="${path}H${CELLS}"/></svg>`
}

const percent = (cell: number): string => ((100 * cell) / CELLS).toFixed(2)

const rect = (level: number, from: number, to: number, kind: string): Html =>
  html`<rect class="${kind}" x="${percent(from)}%" y="${level * LANE_HEIGHT}" width="${percent(to - from)}%" height="${LANE_HEIGHT - 1}"/>`

const frame = ({ from, to, length_ns }: Window): Html => {
  const x = (100 * Number(from)) / Number(length_ns)
  const width = (100 * Number(to - from)) / Number(length_ns)
  return html`<rect class="frame" x="${x.toFixed(2)}%" width="${width.toFixed(2)}%" height="${HEIGHT}"/>`
}

/** Content of each cell by lane: a kind, `error`, or nothing. */
const lanesOf = (spans: readonly TreeSpan[], { origin_ns, length_ns }: Window): readonly string[][] => {
  const lanes = Array.from({ length: LANES }, () => new Array<string>(CELLS).fill(''))
  for (const span of spans) {
    const { depth, start_ns, kind } = span
    const end_ns = endOf(span)
    const lane = lanes[Math.min(depth, LANES) - 1]
    if (lane === undefined) continue
    const from = cellOf(start_ns - origin_ns, length_ns)
    const to = end_ns === null ? CELLS - 1 : cellOf(end_ns - origin_ns, length_ns)
    const filling = isFailed(span) ? 'error' : kind
    for (let cell = from; cell <= to; cell++) lane[cell] = blended(lane[cell] ?? '', filling)
  }
  return lanes
}

/** Errors have priority; cells with several kinds have no kind. */
const blended = (there: string, filling: string): string =>
  there === '' || there === filling || filling === 'error' ? filling : there === 'error' ? there : 'other'

const cellOf = (ns: bigint, length_ns: bigint): number =>
  Math.max(0, Math.min(CELLS - 1, Math.floor((CELLS * Number(ns)) / Number(length_ns))))

interface Filled {
  readonly from: number
  readonly to: number
  readonly kind: string
}

/** Merges adjacent cells with equal content. */
const runsIn = (lane: readonly string[]): readonly Filled[] => {
  const runs: Filled[] = []
  let from = 0
  for (let cell = 1; cell <= lane.length; cell++) {
    if (lane[cell] === lane[from]) continue
    const kind = lane[from] ?? ''
    if (kind !== '') runs.push({ from, to: cell, kind })
    from = cell
  }
  return runs
}

/** Indented JSON with exact integers. */
export const indented = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? JSON.rawJSON(String(part)) : part), 2)
