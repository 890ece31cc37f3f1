import { type Html, html } from '#lib/html'
import { cutText } from '#lib/text'
import type { FigureBucket, FigureGroup, FigureSeries, FigureSums, FiguresAnswer } from '#lib/trace'
import type { Period } from './period.ts'

/** What charts are grouped by. */
export const groupNames = ['decision', 'model', 'agent', 'project'] as const satisfies readonly FigureGroup[]
export type Group = (typeof groupNames)[number]
export const DEFAULT_GROUP: Group = 'decision'

export const groupOf = (query: URLSearchParams): Group =>
  groupNames.find((name) => name === query.get('group')) ?? DEFAULT_GROUP

const MOST_NAMED = 5
const OTHER = '(other)'
/** Clients choose names, of any length. */
const MOST_CHARS = 120
/** By how grave they are, and how they are called on pages. */
const decisions = new Map<string | null, readonly [name: string, tone: string]>([
  ['allow', ['allowed', 'allow']],
  ['shadow_flag', ['flagged', 'flag']],
  ['block', ['blocked', 'block']],
])

/** One colour of the charts: a group, or all those that are not named. */
export interface Layer {
  /** As people read it. */
  readonly name: string
  /** The name is one that a client chose. */
  readonly isForeign: boolean
  /** Class of its colour. */
  readonly tone: string
  readonly requests: number
  /** Figures of the bars; undefined without calls. */
  at(bar: number): readonly FigureBucket[]
}

/** The groups of an answer, the lowest of a stack first. */
export const layersOf = (answer: FiguresAnswer, group: Group, period: Period): readonly Layer[] => {
  if (group === 'decision')
    return [...decisions].flatMap(([decision, [name, tone]]) => {
      const series = answer.series.filter((one) => one.group === decision)
      return series.length === 0 ? [] : [layer(series, { name, tone, isForeign: false }, period)]
    })
  const named = answer.series.filter((one) => one.group !== OTHER).slice(0, MOST_NAMED)
  const rest = answer.series.filter((one) => !named.includes(one))
  const layers = named.map((one, at) => layer([one], { ...nameOf(one, group), tone: `tone${at}` }, period))
  return rest.length === 0
    ? layers
    : [...layers, layer(rest, { name: 'other', tone: 'rest', isForeign: false }, period)]
}

/** The name of a group; the whole of a long one is its title. */
export const nameMark = ({ name, isForeign }: Layer): Html =>
  isForeign ? html`<bdi title="${name}">${name}</bdi>` : html`${name}`

const nameOf = ({ group: name }: FigureSeries, group: Group) => ({
  name: name === null ? `no ${group}` : shortened(name),
  isForeign: name !== null,
})

const shortened = (name: string): string => (name.length > MOST_CHARS ? `${cutText(name, MOST_CHARS)}…` : name)

const layer = (
  series: readonly FigureSeries[],
  named: Pick<Layer, 'name' | 'tone' | 'isForeign'>,
  period: Period,
): Layer => {
  const maps = series.map(({ buckets }) => byBar(buckets, period))
  return {
    ...named,
    requests: series.reduce((sum, { totals }) => sum + totals.requests, 0),
    at: (bar) => maps.flatMap((map) => map.get(bar) ?? []),
  }
}

/** Figures by the number of their bar. */
export const byBar = (
  buckets: readonly FigureBucket[],
  { since, step_ms }: Period,
): ReadonlyMap<number, FigureBucket> =>
  new Map(buckets.map((bucket) => [Math.floor((bucket.at - since) / step_ms), bucket]))

/** What a layer has in each bar. */
export const valuesOf = (layer: Layer, { bars }: Period, value: (sums: FigureSums) => number): readonly number[] =>
  Array.from({ length: bars }, (_, bar) => layer.at(bar).reduce((sum, one) => sum + value(one), 0))
