import { costText, countText, durationText } from 'guard-gateway/lib/format'
import { countMark, type Html, html, priceMark } from 'guard-gateway/lib/html'
import type { FigureSums, FiguresAnswer } from 'guard-gateway/lib/trace'
import { latencyText } from './latency.ts'
import { byBar, type Group, type Layer, valuesOf } from './layers.ts'
import type { Period } from './period.ts'

/** One chart: a heading with what it came to, and values by layer and bar. */
export interface Chart {
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
export interface Drawn {
  readonly answer: FiguresAnswer
  readonly layers: readonly Layer[]
  readonly group: Group
  readonly period: Period
  readonly unit: string
}

/** The charts of a strip, in their order. */
export const chartsOf = (drawn: Drawn): readonly Chart[] => {
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
