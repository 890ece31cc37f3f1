import { type Html, html } from 'guard-gateway/lib/html'
import type { TreeSpan } from 'guard-gateway/lib/trace'
import type { TimelineView } from './timeline-view.ts'
import { isFullRange, type Window } from './window.ts'

const CELLS = 240
const LANES = 5
const LANE_HEIGHT = 6

/** Overview of the whole run, one lane per level. Errors have priority; the window of the timeline is framed. */
export const overview = (view: TimelineView): Html => {
  const { window, trace } = view
  const lanes = lanesOf(trace.spans, window)
  const rects = lanes.flatMap((lane, level) => runsIn(lane).map(({ from, to, kind }) => rect(level, from, to, kind)))
  return html`<svg id="overview" class="overview" height="${LANES * LANE_HEIGHT}" data-length="${window.length_ns}" aria-hidden="true">${rects}${!isFullRange(window) && frame(window)}</svg>`
}

const percent = (cell: number): string => ((100 * cell) / CELLS).toFixed(2)

const rect = (level: number, from: number, to: number, kind: string): Html =>
  html`<rect class="${kind}" x="${percent(from)}%" y="${level * LANE_HEIGHT}" width="${percent(to - from)}%" height="${LANE_HEIGHT - 1}"/>`

const frame = ({ from, to, length_ns }: Window): Html => {
  const x = (100 * Number(from)) / Number(length_ns)
  const width = (100 * Number(to - from)) / Number(length_ns)
  return html`<rect class="frame" x="${x.toFixed(2)}%" width="${width.toFixed(2)}%" height="${LANES * LANE_HEIGHT}"/>`
}

/** Content of each cell by lane: a kind, `error`, or nothing. */
const lanesOf = (spans: readonly TreeSpan[], { origin_ns, length_ns }: Window): readonly string[][] => {
  const lanes = Array.from({ length: LANES }, () => new Array<string>(CELLS).fill(''))
  for (const { depth, start_ns, end_ns, kind, status } of spans) {
    const lane = lanes[Math.min(depth, LANES) - 1]
    if (lane === undefined) continue
    const from = cellOf(start_ns - origin_ns, length_ns)
    const to = end_ns === null ? CELLS - 1 : cellOf(end_ns - origin_ns, length_ns)
    const filling = status === 'error' ? 'error' : kind
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
