import { costText, countText } from 'guard-gateway/lib/format'
import { type Html, html } from 'guard-gateway/lib/html'
import type { FigureBucket } from 'guard-gateway/lib/trace'
import type { Addresses } from './addresses.ts'
import type { Drawn } from './charts.ts'
import { latencyText } from './latency.ts'
import { byBar, nameMark } from './layers.ts'
import { barTime, isClock } from './time-labels.ts'

/** The figures of the charts as a table, with a link for each bar. Bars without calls are left out. */
export const figureTable = (drawn: Drawn, { bar: address }: Addresses, now: number): Html => {
  const { answer, layers, group, period, unit } = drawn
  const groups = group === 'decision' ? [] : layers
  const heads = ['requests', 'flagged', 'blocked', unit === 'cost' ? 'cost' : unit, 'tokens', 'p50', 'p95']
  const rows = [...byBar(answer.buckets, period)].sort(([one], [other]) => one - other)
  return html`<details class="charted"><summary>Figures as a table</summary><table class="list"><thead><tr><th scope="col">${isClock(period, now) ? 'Time' : 'Time, UTC'}</th>${[
    ...heads,
    ...groups.map(nameMark),
  ].map((head) => html`<th scope="col" class="figure">${head}</th>`)}</tr></thead><tbody>
${rows.map(([bar, bucket]) => {
  const href = address(bar)
  const time = barTime(bucket.at, period, now)
  const counts = groups.map((layer) => layer.at(bar).reduce((sum, { requests }) => sum + requests, 0))
  return html`<tr data-bar="${bar}"><th scope="row">${href === undefined ? time : html`<a href="${href}">${time}</a>`}</th>${[...cells(bucket), ...counts.map(countText)].map((cell) => html`<td class="figure">${cell}</td>`)}</tr>
`
})}</tbody></table></details>`
}

const cells = ({ requests, flagged, blocked, cost_micro, total_tokens, p50_ms, p95_ms }: FigureBucket) => [
  ...[requests, flagged, blocked].map(countText),
  costText(cost_micro),
  countText(total_tokens),
  ...[p50_ms, p95_ms].map(latencyText),
]
