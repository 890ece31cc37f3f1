import type { Gateway } from 'guard-gateway/core'
import { durationText, timeText } from 'guard-gateway/lib/format'
import { costUnit, type Html, html } from 'guard-gateway/lib/html'
import type { TraceEvent, TreeSpan } from 'guard-gateway/lib/trace'
import { spanRecord } from 'guard-gateway/lib/trace-file'
import { decisionIn } from '../read/decisions.ts'
import { cachedTokensOf } from '../read/model-tokens.ts'
import { errorOf } from '../read/span-error.ts'
import { isUnseen, isUpperBound } from '../read/span-time.ts'
import { decisionLine } from './decisions.ts'
import { costMark, counted, countMark, durationMark, numbered, sinceText, statusMark } from './format.ts'
import { indented } from './indented.ts'
import { spanTitle } from './shape.ts'
import { alsoSeen, kindMark } from './timeline-row.ts'
import type { TimelineView } from './timeline-view.ts'
import { attributeTable, idMark, valueMark } from './values.ts'

/** Details of the selected span. */
export const spanDetails = (gateway: Gateway, { trace, shape, selected }: TimelineView): Html => {
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
