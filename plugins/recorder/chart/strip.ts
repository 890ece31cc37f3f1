import { type Html, html, raw } from 'guard-gateway/lib/html'
import type { ChartOptions } from 'guard-gateway/lib/page'
import type { FigureSums, Figures, FiguresAnswer } from 'guard-gateway/lib/trace'
import { addressesOf } from './addresses.ts'
import { changeMark } from './change.ts'
import { chartsOf } from './charts.ts'
import { chips, legend, playgroundLink, titleOf } from './controls.ts'
import { chartFigure, columnLinks } from './drawing.ts'
import { groupOf, type Layer, layersOf } from './layers.ts'
import { comparedOf, periodOf } from './period.ts'
import { figureTable } from './table.ts'
import { axisEnds, isClock } from './time-labels.ts'

/** Charts of the time that a page's query asks for. */
export const strip = async (figures: Figures, unit: string, options: ChartOptions): Promise<Html | undefined> => {
  const { ask, project_id, agent_id, isList = false } = options
  const period = periodOf(ask.query, ask.now, isList)
  if (period === undefined) return undefined
  const group = groupOf(ask.query)
  const shown = ask.query.get('playground')
  const isPlaygroundShown = shown === 'show' || shown === 'true'
  const playground = isPlaygroundShown ? shown === 'true' || undefined : false
  const whose = { project_id, agent_id, playground }
  const { since, until, step } = period
  const compared = comparedOf(period)
  const [answer, earlier] = await Promise.all([
    figures.read({ ...whose, since, until, step, group }),
    compared && figures.read({ ...whose, since: compared.since, until: since, step: 'whole', group: 'none' }),
  ])
  const addresses = addressesOf(options, period)
  const head = (
    layers: readonly Layer[],
    words: string,
  ): Html => html`<h2 class="strip">${titleOf(period, ask.now)}</h2>
<div class="strip">${chips(period, group, addresses, options)}<p class="quiet">${words}${playgroundLink(isPlaygroundShown, addresses)}${!answer.complete && '. These are the newest 20,000 requests.'}</p></div>
${legend(layers)}`
  if (answer.totals.requests === 0) return head([], 'No requests, ')
  const drawn = { answer, layers: layersOf(answer, group, period), group, period, unit }
  const ends = axisEnds(period, ask.now)
  const figuresOf = chartsOf(drawn).map((chart) => {
    const { additive } = chart
    const isCompared = compared !== undefined && earlier !== undefined && additive !== undefined
    const change =
      isCompared && changeMark(ofWhole(answer, compared.until, additive), additive(earlier.totals), compared.words)
    return chartFigure(chart, change || html``, ends, period)
  })
  return html`${head(drawn.layers, '')}<div class="charts" data-since="${since}" data-step="${period.step_ms}" data-bars="${period.bars}"${isClock(period, ask.now) ? '' : raw` data-zone="UTC"`} data-list="${addresses.list}">${columnLinks(period, addresses)}
${figuresOf}</div>
<div class="figures">${figureTable(drawn, addresses, ask.now)}<p id="readout" class="quiet"></p></div>`
}

/** The sum of the bars that have ended. */
const ofWhole = ({ buckets }: FiguresAnswer, until: number, value: (sums: FigureSums) => number): number =>
  buckets.reduce((sum, bucket) => (bucket.at < until ? sum + value(bucket) : sum), 0)
