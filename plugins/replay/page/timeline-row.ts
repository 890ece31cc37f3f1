import { costText, countText, durationText } from '#lib/format'
import { type Html, html, raw } from '#lib/html'
import type { SeenSpan, TreeSpan } from '#lib/trace'
import { standingDecision } from '../read/decisions.ts'
import type { EqualGroup } from '../read/equal-siblings.ts'
import { sumsOfRow } from '../read/rows.ts'
import { errorOf } from '../read/span-error.ts'
import { endOf, isFailed, isUnseen, isUpperBound } from '../read/span-time.ts'
import { decisionClass } from './decisions.ts'
import { groupToggled, isClosed, runLink, toggled } from './folding.ts'
import { middleEllipsis, numbered, rowId, statusMark, statusWords } from './format.ts'
import { spanTitle } from './shape.ts'
import type { TimelineView } from './timeline-view.ts'
import { percentOf } from './window.ts'

const MAX_INDENT = 12
const NAME_CHARS = 40

/** Row of a span, by its place among the rows of the window; the first of equal siblings may stand for all of them. */
export const timelineRow = (view: TimelineView, row: number): Html => {
  const { trace, shape, selected, tree } = view
  const span = tree.spans[row] as TreeSpan
  const at = shape.places.get(span.id) ?? row
  const group = tree.groups.get(row)
  const folded = view.groups.has(row) ? group : undefined
  const { tokens, cost_micro } = folded ?? sumsOfRow(trace, span)
  const end_ns = folded?.end_ns ?? endOf(span)
  return html`<tr id="${rowId(span.id)}" data-row class="${classesOf(view, span, at)}"><th scope="row" class="d${Math.min(span.depth, MAX_INDENT)}">${pick(view, span, at === selected)}${foldMark(view, span, row)}${group !== undefined && equalMark(view, span, group, folded !== undefined)}</th><td>${bar(view, span, end_ns)}</td><td class="figure">${tookText(span, end_ns)}</td><td class="figure">${formatted(tokens, countText)}</td><td class="figure">${formatted(cost_micro, costText)}</td><td>${span.status !== 'ok' && statusMark(span.status)}${errorMark(span)}</td></tr>`
}

const ERROR_CHARS = 40

/** Why a span failed. */
const errorMark = (span: TreeSpan): Html | '' => {
  const error = isFailed(span) ? errorOf(span) : undefined
  return error === undefined ? '' : html` <span class="quiet">${middleEllipsis(error, ERROR_CHARS)}</span>`
}

const classesOf = ({ selected, shape, matches }: TimelineView, span: TreeSpan, at: number): string =>
  [
    span.kind,
    at === selected && 'chosen',
    shape.critical[at] === 1 && 'critical',
    matches !== undefined && !matches.has(at) && 'dim',
    isFailed(span) && 'failed',
  ]
    .filter((one) => one !== false)
    .join(' ')

/** The name of a span, as a link that selects it. */
const pick = ({ shape, base }: TimelineView, span: TreeSpan, isSelected: boolean): Html => {
  const title = spanTitle(shape, span)
  const full = span.label === null ? title : `${title} ${span.label}`
  const href = `${base}span=${encodeURIComponent(span.id)}#${encodeURIComponent(rowId(span.id))}`
  return html`<a class="pick" href="${href}"${isSelected ? raw` aria-current="true"` : ''} title="${span.kind}: ${full}">${span.depth > MAX_INDENT && `${span.depth} `}${numbered(title, NAME_CHARS)}${span.label !== null && html` <i>${middleEllipsis(span.label, NAME_CHARS)}</i>`}</a>${span.also_seen !== undefined && html` <abbr class="quiet" title="one call, ${alsoSeen(span.also_seen)}">+${span.also_seen.length}</abbr>`}`
}

/** Who else told of a call: `also seen by gateway and client`. */
export const alsoSeen = (seen: readonly SeenSpan[]): string =>
  `also seen by ${[...new Set(seen.map(({ owner }) => owner))].join(' and ')}`

/** A figure; nothing for none and for zero. */
const formatted = (value: bigint | null, text: (value: bigint) => string): string =>
  value === null || value === 0n ? '' : text(value)

const tookText = (span: TreeSpan, end_ns: bigint | null): string => {
  if (end_ns === null) return '…'
  if (isUnseen(span)) return '–'
  return `${isUpperBound(span) ? '≤ ' : ''}${durationText(end_ns - span.start_ns)}`
}

/** How many equal siblings a row stands for, as a link that shows or hides the others. */
const equalMark = ({ folding, query }: TimelineView, span: TreeSpan, { count }: EqualGroup, folded: boolean): Html => {
  const href = runLink(query, { ...groupToggled(folding, span), span: span.id }, rowId(span.id))
  const label = folded ? `Show all ${count} equal steps` : `Fold ${count} equal steps`
  return html`<a class="equal" href="${href}" aria-expanded="${String(!folded)}" aria-label="${label}" title="${label}">×${count}, equal</a>`
}

/** The kind of a span as a letter. */
export const kindMark = (kind: string): Html =>
  html`<abbr class="kind ${kind}" title="${kind}">${kind.charAt(0).toUpperCase()}</abbr>`

const foldMark = ({ tree, folding, query }: TimelineView, span: TreeSpan, row: number): Html | '' => {
  if ((tree.spans[row + 1]?.depth ?? 0) <= span.depth) return ''
  const closed = isClosed(folding, span)
  const href = runLink(query, { ...toggled(folding, span), span: span.id }, rowId(span.id))
  return html`<a class="fold" href="${href}" aria-expanded="${String(!closed)}" aria-label="${closed ? 'Expand' : 'Collapse'}">${closed ? '▸' : '▾'}</a>`
}

/** Bar of a span within the window, always visible, and its duration as text. */
const bar = ({ window, trace }: TimelineView, span: TreeSpan, end_ns: bigint | null): Html => {
  const { start_ns, status, events } = span
  const from = percentOf(window, start_ns)
  const to = end_ns === null ? 100 : percentOf(window, end_ns)
  const took =
    end_ns === null
      ? 'is running'
      : isUnseen(span)
        ? 'duration not known'
        : `lasts ${isUpperBound(span) ? 'at most ' : ''}${durationText(end_ns - start_ns)}`
  const words = `starts at ${durationText(start_ns - trace.run.start_ns)}, ${took}, ${statusWords(status)}`
  const x = Math.max(0, from)
  const width = Math.min(100, to) - x
  const seen = to >= 0 && from <= 100
  return html`<svg class="lane" height="14" role="img" aria-label="${words}">${
    seen && html`<rect x="${x.toFixed(2)}%" width="${Math.max(LEAST_PERCENT, width).toFixed(2)}%" height="14"/>`
  }${seen && events.length > 0 && decisionText(events, x, x + width)}</svg>`
}

/** A bar without width would be invisible. */
const LEAST_PERCENT = 0.01

/** A label after the bar does not fit beyond this. */
const LAST_PERCENT = 85
/** A label before the bar does not fit below this. */
const FIRST_PERCENT = 36

const decisionText = (events: TreeSpan['events'], from: number, to: number): Html | '' => {
  const word = standingDecision(events)
  if (word === undefined) return ''
  const before = from < FIRST_PERCENT ? 'start' : 'end'
  const [x, dx, anchor] = to <= LAST_PERCENT ? [to + 0.6, 4, 'start'] : [Math.max(0, from - 0.6), -2, before]
  return html`<text class="${decisionClass(word)}" x="${x.toFixed(2)}%" dx="${dx}" y="11" text-anchor="${anchor}">◆ ${word}</text>`
}
