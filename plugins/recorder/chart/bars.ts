import { max, nice } from 'd3-array'
import { stack } from 'd3-shape'

/** Units of a drawing: what a bar takes of its width, how wide the bar itself is, and its height. */
export const BAR = { width: 4, stroke: 3, height: 48 } as const

/** A drawing of stacked bars. */
export interface Bars {
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
