import { type Html, html } from 'guard-gateway/lib/html'
import type { Trace, TraceEvent, TreeSpan } from 'guard-gateway/lib/trace'
import { decisionIn } from '../read/decisions.ts'
import { decisionLine } from './decisions.ts'
import { numbered, sinceText, spanUrl } from './format.ts'
import { linked } from './links.ts'
import { shapeOfTrace, spanTitle } from './shape.ts'
import { attributeTable } from './values.ts'

const PAGE_EVENTS = 200

interface Placed {
  readonly event: TraceEvent
  readonly span: TreeSpan | undefined
}

/** All events of a run in chronological order. */
export const eventsView = (trace: Trace, query: URLSearchParams): Html => {
  const all = placedIn(trace)
  if (all.length === 0) return html`<p class="empty">This run has no events.</p>`
  const asked = Number(query.get('after') ?? 0)
  const after = Number.isInteger(asked) && asked > 0 && asked < all.length ? asked : 0
  const end = Math.min(all.length, after + PAGE_EVENTS)
  return html`<table class="list stacks"><thead><tr><th scope="col" class="figure">At</th><th scope="col">Event</th><th scope="col">Decision</th><th scope="col">Span</th><th scope="col" class="free">Attributes</th></tr></thead><tbody>
${all.slice(after, end).map((placed) => eventRow(trace, placed))}</tbody></table>
${pages(query, after, end, all.length)}`
}

const placedIn = ({ spans, events }: Trace): readonly Placed[] => {
  const placed: Placed[] = events.map((event) => ({ event, span: undefined }))
  for (const span of spans) for (const event of span.events) placed.push({ event, span })
  return placed.sort((a, b) => Number(a.event.time_ns - b.event.time_ns))
}

const eventRow = (trace: Trace, { event, span }: Placed): Html => {
  const decision = decisionIn(event)
  const { trace_id, start_ns } = trace.run
  const attributes = Object.keys(event.attributes).length
  return html`<tr id="event-${event.id}" data-row><td class="figure">${sinceText(event.time_ns - start_ns)}</td>
<th scope="row">${event.name}${event.severity === 'error' && html` <span class="error">✕ error</span>`}</th>
<td>${decision !== undefined && decisionLine(decision)}</td>
<td>${span === undefined ? html`<span class="quiet">the run</span>` : html`<a href="${spanUrl(trace_id, span.id)}">${numbered(spanTitle(shapeOfTrace(trace), span))}</a>`}</td>
<td><details><summary>${attributes}<span class="unit"> attribute${attributes !== 1 && 's'}</span></summary>${attributeTable(event.attributes)}</details></td></tr>
`
}

const pages = (query: URLSearchParams, after: number, end: number, count: number): Html => {
  if (count <= PAGE_EVENTS) return html``
  const link = (to: number) => linked('', query, { after: String(to) })
  return html`<nav class="pages" aria-label="Events">${after > 0 && html`<a href="${link(Math.max(0, after - PAGE_EVENTS))}">← previous</a>`}
<span class="quiet">${after + 1} to ${end} of ${count}</span>
${end < count && html`<a href="${link(end)}">next →</a>`}</nav>`
}
