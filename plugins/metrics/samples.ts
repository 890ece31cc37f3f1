/** One line of the text form: name, labels, value. */
const sample = (name: string, labels: string, value: number): string =>
  `${name}${labels === '' ? '' : `{${labels}}`} ${Number.isFinite(value) ? value : 'NaN'}\n`

/** Label values by name as they stand between the braces; quotes, backslashes and line ends are escaped. */
const labelText = (names: readonly string[], values: readonly string[]): string =>
  names.map((name, at) => `${name}="${escaped(values[at] ?? '')}"`).join(',')

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' }
const escaped = (text: string): string => text.replaceAll(/[\\"\n]/g, (sign) => ESCAPES[sign] ?? sign)

const KEY_SEPARATOR = '\u0000'

/** What is told of: the head of its block, and its samples. */
export interface Metric {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  samples(): Iterable<string>
}

/** The metrics in the text form of Prometheus, version 0.0.4. */
export const exposition = (metrics: Iterable<Metric>): string => {
  let text = ''
  for (const metric of metrics) {
    const lines = [...metric.samples()]
    if (lines.length === 0) continue
    text += `# HELP ${metric.name} ${metric.help}\n# TYPE ${metric.name} ${metric.type}\n${lines.join('')}`
  }
  return text
}

/** Something that is counted, by labels. */
export class Counter implements Metric {
  readonly type = 'counter'
  readonly name: string
  readonly help: string
  readonly #labels: readonly string[]
  readonly #counts = new Map<string, number>()

  constructor(name: string, help: string, labels: readonly string[] = []) {
    this.name = name
    this.help = help
    this.#labels = labels
  }

  /** `values` in the order of the labels. */
  add(values: readonly string[], by = 1): void {
    const key = values.join(KEY_SEPARATOR)
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + by)
  }

  *samples(): Generator<string> {
    for (const [key, count] of this.#counts)
      yield sample(this.name, labelText(this.#labels, key.split(KEY_SEPARATOR)), count)
  }
}

interface Series {
  readonly counts: Float64Array
  sum: number
  count: number
}

/** Measured values, sorted into buckets by their upper bounds; by labels. */
export class Histogram implements Metric {
  readonly type = 'histogram'
  readonly name: string
  readonly help: string
  readonly #bounds: readonly number[]
  readonly #labels: readonly string[]
  readonly #series = new Map<string, Series>()

  constructor(name: string, help: string, bounds: readonly number[], labels: readonly string[] = []) {
    this.name = name
    this.help = help
    this.#bounds = bounds
    this.#labels = labels
  }

  observe(values: readonly string[], value: number): void {
    const key = values.join(KEY_SEPARATOR)
    let series = this.#series.get(key)
    if (series === undefined) {
      series = { counts: new Float64Array(this.#bounds.length), sum: 0, count: 0 }
      this.#series.set(key, series)
    }
    const bucket = this.#bounds.findIndex((bound) => value <= bound)
    if (bucket >= 0) series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
    series.sum += value
    series.count++
  }

  *samples(): Generator<string> {
    for (const [key, { counts, sum, count }] of this.#series) {
      const labels = labelText(this.#labels, this.#labels.length === 0 ? [] : key.split(KEY_SEPARATOR))
      const prefix = labels === '' ? '' : `${labels},`
      let below = 0
      for (const [at, bound] of this.#bounds.entries()) {
        below += counts[at] ?? 0
        yield sample(`${this.name}_bucket`, `${prefix}le="${bound}"`, below)
      }
      yield sample(`${this.name}_bucket`, `${prefix}le="+Inf"`, count)
      yield sample(`${this.name}_sum`, labels, sum)
      yield sample(`${this.name}_count`, labels, count)
    }
  }
}

/** Something that is looked at when it is asked for: label values and value of each sample. */
export const gauge = (
  name: string,
  help: string,
  labels: readonly string[],
  look: () => Iterable<readonly [values: readonly string[], value: number]>,
  type: 'gauge' | 'counter' = 'gauge',
): Metric => ({
  name,
  type,
  help,
  *samples() {
    for (const [values, value] of look()) yield sample(name, labelText(labels, values), value)
  },
})
