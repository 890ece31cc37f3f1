import { median } from '../kit/table.ts'
import type { TargetName } from './programs.ts'

/** Targets and the provider itself. */
export type MeasuredName = TargetName | 'provider'
export type Values = Readonly<Partial<Record<MeasuredName, number>>>
export type Unit = 'ms' | 'MB' | 'KB' | 'µs' | '%'

/** One figure of every target. */
export interface DaemonFigure {
  readonly id: string
  readonly title: string
  readonly unit: Unit
  /** Medians of the rounds. */
  readonly values: Values
  /** Medians of the rounds' ratios, by default to the raw pass-through. They are what a baseline keeps. */
  readonly ratios: Values
  /** Least of the rounds, which other work on the machine disturbed least. */
  readonly least: Values
  /** What a gateway must stay within. */
  readonly must?: Must
}

export type Must = { readonly ratio: number } | { readonly value: Values }

export interface FigureOptions {
  readonly must?: Must
  /** What values are divided by. Absent: the value of the raw pass-through in the same round. Null: they have no ratio. */
  readonly base?: number | null
}

/** Summarises the values of each round. */
export const figureOf = (
  id: string,
  title: string,
  unit: Unit,
  rounds: readonly Values[],
  { must, base }: FigureOptions = {},
): DaemonFigure => {
  const names = [...new Set(rounds.flatMap((round) => Object.keys(round)))] as MeasuredName[]
  const summed = (
    summary: (known: readonly number[]) => number,
    value: (round: Values, name: MeasuredName) => number | undefined,
  ): Values =>
    Object.fromEntries(
      names.flatMap((name) => {
        const known = rounds.map((round) => value(round, name)).filter((one) => one !== undefined)
        return known.length === 0 ? [] : [[name, summary(known)]]
      }),
    )
  const own = (round: Values, name: MeasuredName): number | undefined => round[name]
  const ratio = (round: Values, name: MeasuredName): number | undefined => {
    const [value, by] = [round[name], base === undefined ? round.raw : base]
    return value === undefined || !by ? undefined : value / by
  }
  return {
    ...{ id, title, unit, values: summed(median, own), ratios: summed(median, ratio) },
    least: summed((known) => Math.min(...known), own),
    ...(must === undefined ? {} : { must }),
  }
}

/** Whether a target stays within the figure's limit. Undefined if it has none. */
export const isMet = ({ must, values, ratios }: DaemonFigure, name: MeasuredName): boolean | undefined => {
  if (must === undefined) return undefined
  const [value, limit] = 'ratio' in must ? [ratios[name], must.ratio] : [values[name], must.value[name]]
  return value === undefined || limit === undefined ? undefined : value <= limit
}
