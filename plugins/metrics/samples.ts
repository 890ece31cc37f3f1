/** One line of the text form: name, labels, value. */
const sample = (name: string, labels: string, value: number): string =>
  `${name}${labels === '' ? '' : `{${labels}}`} ${Number.isFinite(value) ? value : 'NaN'}\n`

/** Label values by name as they stand between the braces; quotes, backslashes and line ends are escaped. */
const labelText = (names: readonly string[], values: readonly string[]): string =>
  names.map((name, at) => `${name}="${escaped(values[at] ?? '')}"`).join(',')

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' }
const escaped = (text: string): string => text.replaceAll(/[\\"\n]/g, (sign) => ESCAPES[sign] ?? sign)

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

/** Series of a metric by their label values. */
class Series<T> {
  readonly #make: () => T
  readonly #made = new Map<string, readonly [values: readonly string[], one: T]>()

  constructor(make: () => T) {
    this.#make = make
  }

  of(values: readonly string[]): T {
    const key = values.join('\u0000')
    return this.#made.get(key)?.[1] ?? this.#begin(key, values)
  }

  /** Of the one label. */
  at(value: string): T {
    return this.#made.get(value)?.[1] ?? this.#begin(value, [value])
  }

  #begin(key: string, values: readonly string[]): T {
    const one = this.#make()
    this.#made.set(key, [values, one])
    return one
  }

  [Symbol.iterator](): Iterator<readonly [values: readonly string[], one: T]> {
    return this.#made.values()
  }
}

/** One number of a counter. */
export interface Count {
  count: number
}

/** Something that is counted, by labels. */
export class Counter implements Metric {
  readonly type = 'counter'
  readonly name: string
  readonly help: string
  readonly #labels: readonly string[]
  readonly #series = new Series((): Count => ({ count: 0 }))

  constructor(name: string, help: string, labels: readonly string[] = []) {
    this.name = name
    this.help = help
    this.#labels = labels
  }

  /** The number of these label values, in the order of the labels; it is told of from now on. */
  of(values: readonly string[]): Count {
    return this.#series.of(values)
  }

  /** The number of a value of the one label. */
  at(value: string): Count {
    return this.#series.at(value)
  }

  add(values: readonly string[], by = 1): void {
    this.of(values).count += by
  }

  *samples(): Generator<string> {
    for (const [values, { count }] of this.#series) yield sample(this.name, labelText(this.#labels, values), count)
  }
}

/** Measured values, sorted into buckets by their upper bounds. */
export class Buckets {
  readonly #bounds: readonly number[]
  readonly counts: Float64Array
  sum = 0
  count = 0

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    const bounds = this.#bounds
    let bucket = 0
    while (bucket < bounds.length && !(value <= (bounds[bucket] ?? 0))) bucket++
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1
    this.sum += value
    this.count++
  }
}

/** Measured values in buckets, by labels. */
export class Histogram implements Metric {
  readonly type = 'histogram'
  readonly name: string
  readonly help: string
  readonly #bounds: readonly number[]
  readonly #labels: readonly string[]
  readonly #series: Series<Buckets>

  constructor(name: string, help: string, bounds: readonly number[], labels: readonly string[] = []) {
    this.name = name
    this.help = help
    this.#bounds = bounds
    this.#labels = labels
    this.#series = new Series(() => new Buckets(bounds))
  }

  /** The buckets of these label values, in the order of the labels; they are told of once they have counted. */
  of(values: readonly string[]): Buckets {
    return this.#series.of(values)
  }

  *samples(): Generator<string> {
    for (const [values, { counts, sum, count }] of this.#series) {
      if (count === 0) continue
      const labels = labelText(this.#labels, values)
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
