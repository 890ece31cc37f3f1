import { max, nice } from 'd3-array'
import { stack } from 'd3-shape'
import { costText, countText, durationText } from '#lib/format'
import { countMark, type Html, html, instantMark, priceMark, raw } from '#lib/html'
import type { ChartOptions } from '#lib/page'
import type { FigureBucket, FigureSums, Figures, FiguresAnswer } from '#lib/trace'
import {
  byBar,
  DEFAULT_GROUP,
  type Group,
  groupNames,
  groupOf,
  type Layer,
  layersOf,
  nameMark,
  valuesOf,
} from './layers.ts'
import { comparedOf, DEFAULT_RANGE, type Period, periodOf, type Range, rangeLabel, rangeNames } from './period.ts'

/** Charts of the time that a page's query asks for. */
export const strip = async (figures: Figures, unit: string, options: ChartOptions): Promise<Html | undefined> => {
  const { ask, project_id, agent_id, isList = false } = options
  const period = periodOf(ask.query, ask.now, isList)
  if (period === undefined) return undefined
  const group = groupOf(ask.query)
  const playgroundParam = ask.query.get('playground')
  const includesPlayground = playgroundParam === 'show' || playgroundParam === 'true'
  const playground = includesPlayground ? playgroundParam === 'true' || undefined : false
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
<div class="strip">${chips(period, group, addresses, options)}<p class="quiet">${words}${playgroundLink(includesPlayground, addresses)}${!answer.complete && '. These are the newest 20,000 requests.'}</p></div>
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

const MOST_PERCENT = 999

/** How much a figure is above or below that of the time before; nothing where that is none. `against` says what is compared. */
const changeMark = (now: number, before: number, against: string): Html => {
  if (before <= 0) return html``
  const percent = Math.round((now / before - 1) * 100)
  if (percent === 0) return html` <span class="quiet" title="${against}">as before</span>`
  if (percent > MOST_PERCENT) return html` <span class="quiet" title="${against}">× ${Math.round(now / before)}</span>`
  return html` <span class="quiet" title="${against}"><span class="hidden-label">${percent > 0 ? 'up' : 'down'}</span><span aria-hidden="true">${percent > 0 ? '↑' : '↓'}</span> ${Math.abs(percent)} %</span>`
}

const box = ({ bars }: Period): string => `0 0 ${Math.max(1, bars) * BAR.width} ${BAR.height}`

/** One chart. Its columns are links, which stand once for all charts. */
const chartFigure = (chart: Chart, change: Html, ends: Html, period: Period): Html => {
  const { top, paths } = stackedBars(chart.values)
  return html`<figure id="chart-${chart.id}"><figcaption>${chart.label}<br><strong>${chart.total}</strong>${change}</figcaption>
<p class="top" aria-hidden="true">${top > 0 && chart.text(top)}</p><svg viewBox="${box(period)}" preserveAspectRatio="none" aria-hidden="true">${paths.map(
    (path, at) => path !== '' && html`<path class="${chart.tones[at] ?? ''}" d="${path}"/>`,
  )}<path class="band" d="M0 0h1v${BAR.height}h-1z"/><use href="#chart-columns"/></svg>${ends}</figure>
`
}

/** A link for each bar. Keyboards and screen readers use those of the table. */
const columnLinks = ({ bars }: Period, { bar }: Addresses): Html => {
  const links = Array.from({ length: bars }, (_, at) => {
    const href = bar(at)
    return (
      href !== undefined &&
      html`<a href="${href}" tabindex="-1"><path d="M${at * BAR.width} 0h${BAR.width}v${BAR.height}h-${BAR.width}z"/></a>`
    )
  })
  return html`<svg class="columns" width="0" height="0" aria-hidden="true"><defs><g id="chart-columns" fill="transparent">${links}</g></defs></svg>`
}

/** The figures of the charts as a table, with a link for each bar. Bars without calls are left out. */
const figureTable = (drawn: Drawn, { bar: address }: Addresses, now: number): Html => {
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

const chip = (href: string, label: string, isChosen: boolean): Html =>
  html`<a href="${href}"${isChosen ? raw` aria-current="true"` : ''}>${label}</a>`

/** The time of the charts in words. */
const titleOf = ({ title, since, until, isCut }: Period, now: number): Html =>
  title === undefined
    ? html`${instantMark(since, now)} to ${instantMark(until, now)}${isCut && ', the last 31 days'}`
    : html`${title}`

/** Links that choose another time, and what it is grouped by. */
const chips = (
  { range }: Period,
  group: Group,
  { here }: Addresses,
  { isList = false, agent_id, project_id }: ChartOptions,
): Html => {
  const choose = (one: Range): string =>
    here(isList ? { range: null, since: one, until: null } : { range: one === DEFAULT_RANGE ? null : one })
  const [isOneAgent, isOneProject] = [agent_id !== undefined, project_id !== undefined]
  const offered = groupNames.filter(
    (one) => one === group || !((one === 'agent' && isOneAgent) || (one === 'project' && isOneProject)),
  )
  return html`<nav class="chips" aria-label="Time of the charts">${rangeNames.map((one) => chip(choose(one), rangeLabel(one), one === range))}</nav>
<nav class="chips" aria-label="Groups of the charts"><span>by</span>${offered.map((one) => chip(here({ group: one === DEFAULT_GROUP ? null : one }), one, one === group))}</nav>`
}

/** Colours in words, the lowest of a stack first. */
const legend = (layers: readonly Layer[]): Html =>
  layers.length === 0
    ? html``
    : html`<ul class="legend">${layers.map(
        (layer) =>
          html`<li class="key ${layer.tone}">${nameMark(layer)} <span class="quiet">${countMark(layer.requests)}</span></li>`,
      )}</ul>`

/** Whether calls of the Playground count, and the way to the other choice. */
const playgroundLink = (isIncluded: boolean, { here }: Addresses): Html =>
  isIncluded
    ? html`with the Playground, <a href="${here({ playground: null })}">leave it out</a>`
    : html`without the Playground, <a href="${here({ playground: 'show' })}">show</a>`

/** A longer filter is not repeated in a link for each bar. */
const MOST_CHARS = 400
/** What belongs to one page of a list, or to the charts. */
const DROPPED = ['cursor', 'back', 'notice', 'about', 'range', 'since', 'until']

/** Addresses that the charts lead to. */
interface Addresses {
  /** The list of runs, with the filters kept and without times. */
  readonly list: string
  /** The list from the beginning of a bar to its end; undefined if the filter is too long. */
  bar(bar: number): string | undefined
  /** This page, changed. */
  here(changes: Readonly<Record<string, string | null>>): string
}

const addressesOf = ({ ask, project_id, agent_id, isList = false }: ChartOptions, period: Period): Addresses => {
  const [path = '/'] = ask.url.split('?', 1)
  const filters = isList
    ? without(ask.query, DROPPED)
    : new URLSearchParams({
        ...(project_id === undefined ? {} : { project_id }),
        ...(agent_id === undefined ? {} : { agent: agent_id }),
      })
  const list = addressOf('/replay', filters)
  const start = `${list}${filters.size === 0 ? '?' : '&'}since=`
  return {
    list,
    bar: (bar) => {
      if (list.length > MOST_CHARS) return undefined
      const at = period.since + bar * period.step_ms
      return `${start}${isoMinute(at)}&until=${isoMinute(at + period.step_ms)}`
    },
    here: (changes) => {
      const next = without(ask.query, ['cursor', 'back', 'notice', 'about', ...Object.keys(changes)])
      for (const [name, value] of Object.entries(changes)) if (value !== null) next.set(name, value)
      return addressOf(path, next)
    },
  }
}

const without = (query: URLSearchParams, names: readonly string[]): URLSearchParams =>
  new URLSearchParams([...query].filter(([name, value]) => value !== '' && !names.includes(name)))

const addressOf = (path: string, query: URLSearchParams): string => (query.size === 0 ? path : `${path}?${query}`)

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const DAY = 86_400_000

const dayText = (at: number): string => {
  const date = new Date(at)
  return `${months[date.getUTCMonth()]} ${date.getUTCDate()}`
}

const clockText = (at: number): string => new Date(at).toISOString().slice(11, 16)

/** Bars of one day are told by the clock alone, which script shows in the reader's zone; those of more days by UTC dates. */
const isClock = ({ since, until, step }: Period, now: number): boolean =>
  (step === 'minute' || step === 'hour') && until - since <= DAY && Math.abs(now - since) <= DAY + STEP_SLACK
const STEP_SLACK = DAY / 24

/** When a bar begins. */
const barTime = (at: number, period: Period, now: number): Html => {
  if (isClock(period, now)) return html`<time datetime="${isoMinute(at)}" data-clock>${clockText(at)}</time>`
  return html`${dayText(at)}${period.step !== 'day' && ` ${clockText(at)}`}`
}

/** Labels of both ends of the axis. */
const axisEnds = (period: Period, now: number): Html => {
  const { since, until, range, step_ms } = period
  const end = range !== undefined ? html`now` : barTime(until - (isClock(period, now) ? 0 : step_ms), period, now)
  return html`<p class="ends" aria-hidden="true"><span>${barTime(since, period, now)}</span><span>${end}</span></p>`
}

/** As short as a query of the list takes it: `2026-11-26T14:00Z`. */
const isoMinute = (at: number): string => `${new Date(at).toISOString().slice(0, 16)}Z`

/** One chart: a heading with what it came to, and values by layer and bar. */
interface Chart {
  readonly id: string
  readonly label: Html
  readonly total: Html
  /** What is added up and compared with the time before. */
  readonly additive?: (sums: FigureSums) => number
  readonly tones: readonly string[]
  readonly values: readonly (readonly number[])[]
  /** A value as it stands at the upper edge. */
  text(value: number): string
}

/** What charts are made of. */
interface Drawn {
  readonly answer: FiguresAnswer
  readonly layers: readonly Layer[]
  readonly group: Group
  readonly period: Period
  readonly unit: string
}

/** The charts of a strip, in their order. */
const chartsOf = (drawn: Drawn): readonly Chart[] => {
  const { answer, unit } = drawn
  const { totals } = answer
  const tokens = ({ total_tokens }: FigureSums) => total_tokens
  const cost = ({ cost_micro }: FigureSums) => cost_micro
  const requests = ({ requests }: FigureSums) => requests
  return [
    {
      id: 'requests',
      label: html`Requests`,
      total: countMark(totals.requests),
      ...stackOf(drawn, requests, countText),
    },
    {
      ...{ id: 'cost', label: html`Cost${unit !== 'cost' && `, ${unit}`}`, total: priceMark(totals.cost_micro) },
      ...stackOf(drawn, cost, costText),
    },
    { id: 'tokens', label: html`Tokens`, total: countMark(totals.total_tokens), ...stackOf(drawn, tokens, countText) },
    flaggedChart(drawn),
    latencyChart(drawn),
  ]
}

const stackOf = ({ layers, period }: Drawn, value: (sums: FigureSums) => number, text: Chart['text']) => ({
  additive: value,
  tones: layers.map(({ tone }) => tone),
  values: layers.map((layer) => valuesOf(layer, period, value)),
  text,
})

const stopped = ({ flagged, blocked }: FigureSums): number => flagged + blocked

const flaggedChart = ({ answer, layers, ...drawn }: Drawn): Chart => {
  const { flagged, blocked } = answer.totals
  return {
    id: 'flagged',
    label: html`Flagged and blocked`,
    total: html`${countMark(flagged)} <small>and</small> ${countMark(blocked)}`,
    ...stackOf({ ...drawn, answer, layers: layers.filter(({ tone }) => tone !== 'allow') }, stopped, countText),
  }
}

/** How long half of the calls took, and on top of it how long 95 of 100 took at most. */
const latencyChart = ({ answer, period }: Drawn): Chart => {
  const { p50_ms, p95_ms } = answer.totals
  const known = byBar(answer.buckets, period)
  const of = (name: 'p50_ms' | 'p95_ms') => Array.from({ length: period.bars }, (_, bar) => known.get(bar)?.[name] ?? 0)
  const [half, most] = [of('p50_ms'), of('p95_ms')]
  return {
    id: 'latency',
    label: html`Latency, <span class="key p50">p50</span> and <span class="key p95">p95</span>`,
    total: p50_ms === null ? html`–` : html`${latencyText(p50_ms)} <small>and</small> ${latencyText(p95_ms)}`,
    tones: ['p50', 'p95'],
    values: [half, most.map((value, bar) => value - (half[bar] ?? 0))],
    text: (value) => durationText(value * 1e6),
  }
}

/** Where the histogram of durations ends. */
const LONGEST_MS = 300_000

/** A duration as it is told; null without calls. */
const latencyText = (ms: number | null): string => {
  if (ms === null) return '–'
  return ms >= LONGEST_MS ? 'over 5 min' : durationText(ms * 1e6)
}

/** Units of a drawing: what a bar takes of its width, how wide the bar itself is, and its height. */
export const BAR = { width: 4, stroke: 3, height: 48 } as const

/** A drawing of stacked bars. */
interface Bars {
  /** The value at its upper edge. */
  readonly top: number
  /** Path data of each layer: a vertical line for each bar. Empty if it has none. */
  readonly paths: readonly string[]
}

/** Stacks values by layer and bar. What is no finite number above 0 is not drawn. */
export const stackedBars = (layers: readonly (readonly number[])[]): Bars => {
  const bars = Array.from({ length: layers[0]?.length ?? 0 }, (_, bar) =>
    layers.map((values) => drawable(values[bar] ?? 0)),
  )
  const stacked = stack<readonly number[], number>()
    .keys(layers.keys())
    .value((values, at) => values[at] ?? 0)(bars)
  const most = max(stacked.flatMap((layer) => layer.map(([, end]) => end))) ?? 0
  const top = most > 0 ? nice(0, most, 2)[1] : 0
  const y = (value: number): string => short(BAR.height * (1 - value / top))
  const line = (bar: number, from: string, to: string): string =>
    from === to ? '' : `M${BAR.width * bar + BAR.width / 2} ${from}V${to}`
  const paths = stacked.map((layer) =>
    top === 0 ? '' : layer.map(([start, end], bar) => line(bar, y(start), y(end))).join(''),
  )
  return { top, paths }
}

const drawable = (value: number): number => (Number.isFinite(value) && value > 0 ? value : 0)

const short = (value: number): string => String(Number(value.toFixed(2)))
