import type { Summary } from './summary.ts'

/** A limit for a figure of every summary. */
export interface FailIf {
  /** The original text. */
  readonly text: string
  /** A suite, or a collection of recorded runs. */
  readonly scope: string | undefined
  readonly subject: string | undefined
  readonly metric: string
  readonly breaks: (value: number) => boolean
}

const form = /^(?:(?:([\w.+-]+)\/)?([\w.-]+):)?([a-z_]+(?:\.[a-z0-9_]+)*)\s*(>=|<=|>|<)\s*(-?\d+(?:\.\d+)?)$/

/**
 * Parses `metric>number`, `subject:metric<number` or `suite/subject:metric<number`. A collection can replace the
 * suite. Throws a TypeError for anything else.
 */
export const readFailIf = (text: string): FailIf => {
  const [, scope, subject, metric, sign, bound] = form.exec(text.trim()) ?? []
  if (metric === undefined || sign === undefined)
    throw new TypeError(`--fail-if takes "clean_fp_rate>0.01" or "tool_repeat:recall<0.5", not "${text}".`)
  return { text, scope, subject, metric, breaks: comparison(sign, Number(bound)) }
}

const comparison = (sign: string, bound: number): ((value: number) => boolean) => {
  if (sign === '>') return (value) => value > bound
  if (sign === '<') return (value) => value < bound
  return sign === '>=' ? (value) => value >= bound : (value) => value <= bound
}

/**
 * Returns a line for each limit that the figures over all cases of a suite or collection exceed. Throws a TypeError
 * if a limit names a figure that was not measured, because such a limit would never fail.
 */
export const broken = (bounds: readonly FailIf[], summaries: readonly Summary[]): readonly string[] =>
  bounds.flatMap((bound) => {
    const meant = summaries.filter(
      (one) => isIn(bound.scope, one) && one.detector.id === (bound.subject ?? one.detector.id),
    )
    const values = meant.map((summary) => [summary, figureOf(summary, bound.metric)] as const)
    if (values.every(([, value]) => typeof value !== 'number'))
      throw new TypeError(`--fail-if "${bound.text}" speaks of what was not measured.`)
    return values.flatMap(([{ suite, detector }, value]) =>
      typeof value === 'number' && bound.breaks(value)
        ? [`${bound.scope ?? suite}/${detector.id}: ${bound.metric} is ${value}, and "${bound.text}"`]
        : [],
    )
  })

const isIn = (scope: string | undefined, { suite, group }: Summary): boolean =>
  group === 'all' ? scope === undefined || scope === suite : group === `collection ${scope}`

/** A figure by name. Dots separate the names of nested figures. */
const figureOf = (summary: object, path: string): unknown => {
  let value: unknown = summary
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  return value
}
