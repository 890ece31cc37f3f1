import type { Gateway } from 'guard-gateway/core'
import { costText } from 'guard-gateway/lib/format'
import { costUnit, type Html, html } from 'guard-gateway/lib/html'
import type { Trace, TreeSpan } from 'guard-gateway/lib/trace'
import { countedSpans } from '../read/counted-spans.ts'
import { endOf, isFailed } from '../read/span-time.ts'
import type { TimelineView } from './timeline-view.ts'
import { isFullRange, type Window } from './window.ts'

const CELLS = 240
const LANES = 5
const LANE_HEIGHT = 6
const HEIGHT = LANES * LANE_HEIGHT

/** Overview of the whole run, one lane per level, with the cost that has run up. Errors have priority; the window of the timeline is framed. */
export const overview = (gateway: Gateway, view: TimelineView): Html => {
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
  for (const { kind, cost_micro, start_ns, end_ns } of countedSpans(spans)) {
    if (kind !== 'model' || cost_micro === null) continue
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
