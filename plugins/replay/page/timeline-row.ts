import { durationText } from 'guard-gateway/lib/format'
import { type Html, html, raw } from 'guard-gateway/lib/html'
import type { TreeSpan } from 'guard-gateway/lib/trace'
import { standingDecision } from '../read/decisions.ts'
import { decisionClass } from './decisions.ts'
import { isClosed, runLink, toggled } from './folding.ts'
import { middleEllipsis, numbered, rowId, statusMark } from './format.ts'
import { spanTitle } from './shape.ts'
import type { TimelineView } from './timeline-view.ts'
import { percentOf } from './window.ts'

const MAX_INDENT = 12
const NAME_CHARS = 40

/** Row of a span. */
export const timelineRow = (view: TimelineView, at: number): Html => {
  const { trace, shape, matches, selected, base } = view
  const span = trace.spans[at] as TreeSpan
  const id = rowId(span.id)
  const title = spanTitle(shape, span)
  const full = span.label === null ? title : `${title} ${span.label}`
  const classes = [
    span.kind,
    at === selected && 'chosen',
    shape.critical[at] === 1 && 'critical',
    matches !== undefined && !matches.has(at) && 'dim',
  ].filter((one) => one !== false)
  return html`<tr id="${id}" data-row class="${classes.join(' ')}"><th scope="row" class="d${Math.min(span.depth, MAX_INDENT)}"><a class="pick" href="${base}span=${encodeURIComponent(span.id)}#${encodeURIComponent(id)}"${at === selected ? raw` aria-current="true"` : ''} title="${span.kind}: ${full}">${span.depth > MAX_INDENT && `${span.depth} `}${numbered(title, NAME_CHARS)}${span.label !== null && html` <i>${middleEllipsis(span.label, NAME_CHARS)}</i>`}</a>${foldMark(view, span, at)}</th><td>${bar(view, span)}</td><td class="figure">${span.end_ns === null ? '…' : durationText(span.end_ns - span.start_ns)}</td><td>${span.status !== 'ok' && statusMark(span.status)}</td></tr>`
}

/** The kind of a span as a letter. */
export const kindMark = (kind: string): Html =>
  html`<abbr class="kind ${kind}" title="${kind}">${kind.charAt(0).toUpperCase()}</abbr>`

const foldMark = ({ shape, folding, query }: TimelineView, span: TreeSpan, at: number): Html | '' => {
  if (shape.branches[at] !== 1) return ''
  const closed = isClosed(folding, span)
  const href = runLink(query, { ...toggled(folding, span), span: span.id }, rowId(span.id))
  return html`<a class="fold" href="${href}" aria-expanded="${String(!closed)}" aria-label="${closed ? 'Expand' : 'Collapse'}">${closed ? '▸' : '▾'}</a>`
}

/** Bar of a span within the window, always visible, and its duration as text. */
const bar = ({ window, trace }: TimelineView, { start_ns, end_ns, status, events }: TreeSpan): Html => {
  const from = percentOf(window, start_ns)
  const to = end_ns === null ? 100 : percentOf(window, end_ns)
  const took = end_ns === null ? 'is running' : `lasts ${durationText(end_ns - start_ns)}`
  const words = `starts at ${durationText(start_ns - trace.run.start_ns)}, ${took}, ${status}`
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
const FIRST_PERCENT = 12

const decisionText = (events: TreeSpan['events'], from: number, to: number): Html | '' => {
  const word = standingDecision(events)
  if (word === undefined) return ''
  const before = from < FIRST_PERCENT ? 'start' : 'end'
  const [x, dx, anchor] = to <= LAST_PERCENT ? [to + 0.6, 4, 'start'] : [Math.max(0, from - 0.6), -2, before]
  return html`<text class="${decisionClass(word)}" x="${x.toFixed(2)}%" dx="${dx}" y="11" text-anchor="${anchor}">◆ ${word}</text>`
}
