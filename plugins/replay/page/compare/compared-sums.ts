import type { Gateway } from 'guard-gateway/core'
import { costText, countText, durationText } from '#lib/format'
import { costHead, type Html, html } from '#lib/html'
import type { Comparison } from '../../read/compare.ts'
import { statusMark } from '../format.ts'

type Side = Comparison['left']

/** Totals of both runs and their deltas, right minus left. */
export const comparedSums = (gateway: Gateway, { left, right, deltas }: Comparison): Html => html`<table class="deltas">
<thead><tr><th scope="col"><span class="hidden-label">Measure</span></th><th scope="col" class="figure">Left</th><th scope="col" class="figure">Right</th><th scope="col">Difference</th></tr></thead><tbody>
${word('Status', statusMark(left.status), statusMark(right.status), left.status !== right.status)}
${word('Failure tag', html`${left.failure_tag ?? 'none'}`, html`${right.failure_tag ?? 'none'}`, left.failure_tag !== right.failure_tag)}
${line('Duration', tookText(left), tookText(right), deltas.duration_ns === null ? 'not known yet' : slowerText(deltas.duration_ns))}
${counted('Tokens', left.total_tokens, right.total_tokens, deltas.total_tokens)}
${line(costHead(gateway), costText(left.cost_micro), costText(right.cost_micro), costDelta(deltas.cost_micro))}
${counted('Spans', left.span_count, right.span_count, deltas.span_count)}
${counted('Events', left.event_count, right.event_count, deltas.event_count)}
</tbody></table>`

const tookText = ({ duration_ns }: Side): string => (duration_ns === null ? 'running' : durationText(duration_ns))

const line = (name: string, left: string, right: string, difference: string): Html =>
  html`<tr><th scope="row" class="status">${name}</th><td class="figure">${left}</td><td class="figure">${right}</td><td>${difference === '' ? html`<span class="quiet">same</span>` : difference}</td></tr>`

const word = (name: string, left: Html, right: Html, changed: boolean): Html =>
  html`<tr><th scope="row" class="status">${name}</th><td class="figure">${left}</td><td class="figure">${right}</td><td>${changed ? html`<strong>changed</strong>` : html`<span class="quiet">same</span>`}</td></tr>`

const counted = (name: string, left: bigint | number, right: bigint | number, delta: bigint | number): Html =>
  line(name, countText(left), countText(right), moreText(delta))

/** A difference of counts as text; empty for none. */
export const moreText = (delta: bigint | number): string => {
  const value = Number(delta)
  return value === 0 ? '' : `${countText(Math.abs(value))} ${value > 0 ? 'more' : 'fewer'}`
}

/** A difference of costs as text; empty for none. */
export const costDelta = (delta: bigint): string =>
  delta === 0n ? '' : `${costText(delta < 0n ? -delta : delta)} ${delta > 0n ? 'more' : 'less'}`

/** A difference of durations as text; empty for none. */
export const slowerText = (delta_ns: bigint): string =>
  delta_ns === 0n ? '' : `${durationText(delta_ns < 0n ? -delta_ns : delta_ns)} ${delta_ns > 0n ? 'slower' : 'faster'}`
