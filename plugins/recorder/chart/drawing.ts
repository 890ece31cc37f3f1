import { type Html, html } from 'guard-gateway/lib/html'
import type { Addresses } from './addresses.ts'
import { BAR, stackedBars } from './bars.ts'
import type { Chart } from './charts.ts'
import type { Period } from './period.ts'

const box = ({ bars }: Period): string => `0 0 ${Math.max(1, bars) * BAR.width} ${BAR.height}`

/** One chart. Its columns are links, which stand once for all charts. */
export const chartFigure = (chart: Chart, change: Html, ends: Html, period: Period): Html => {
  const { top, paths } = stackedBars(chart.values)
  return html`<figure id="chart-${chart.id}"><figcaption>${chart.label}<br><strong>${chart.total}</strong>${change}</figcaption>
<p class="top" aria-hidden="true">${top > 0 && chart.text(top)}</p><svg viewBox="${box(period)}" preserveAspectRatio="none" aria-hidden="true">${paths.map(
    (path, at) => path !== '' && html`<path class="${chart.tones[at] ?? ''}" d="${path}"/>`,
  )}<path class="band" d="M0 0h1v${BAR.height}h-1z"/><use href="#chart-columns"/></svg>${ends}</figure>
`
}

/** A link for each bar. Keyboards and screen readers use those of the table. */
export const columnLinks = ({ bars }: Period, { bar }: Addresses): Html => {
  const links = Array.from({ length: bars }, (_, at) => {
    const href = bar(at)
    return (
      href !== undefined &&
      html`<a href="${href}" tabindex="-1"><path d="M${at * BAR.width} 0h${BAR.width}v${BAR.height}h-${BAR.width}z"/></a>`
    )
  })
  return html`<svg class="columns" width="0" height="0" aria-hidden="true"><defs><g id="chart-columns" fill="transparent">${links}</g></defs></svg>`
}
