import { printTable } from '../kit/table.ts'
import type { DaemonResult } from '../suites/daemon.ts'
import type { ComparedRatio } from './baseline.ts'
import { type DaemonFigure, isMet, type MeasuredName } from './figures.ts'

const order: readonly MeasuredName[] = ['provider', 'raw', 'package', 'sources', 'portkey']

/** Formats the daemon suite as tables. */
export const daemonText = ({ left_out, notes, figures, compared, baseline, failures }: DaemonResult): string => {
  if (left_out !== null) return `daemon: ${left_out}`
  const parts = [figuresTable(figures)]
  if (compared.length > 0) parts.push(`ratios beside ${baseline}\n${comparedTable(compared)}`)
  parts.push(...notes, ...failures.map((failure) => `FAILED: ${failure}`))
  return parts.join('\n\n')
}

const figuresTable = (figures: readonly DaemonFigure[]): string => {
  const names = order.filter((name) => figures.some(({ values }) => values[name] !== undefined))
  const columns = names.flatMap((name) => (name === 'raw' ? [name] : [name, 'ratio']))
  return printTable(
    ['figure', ...columns, 'must', ''],
    figures.map((figure) => [
      figure.title,
      ...names.flatMap((name) => cellsOf(figure, name)),
      mustOf(figure),
      verdictOf(figure),
    ]),
  )
}

const cellsOf = ({ unit, values, ratios }: DaemonFigure, name: MeasuredName): readonly string[] => {
  const [value, ratio] = [values[name], ratios[name]]
  const cell = value === undefined ? '' : amount(value, unit)
  return name === 'raw' ? [cell] : [cell, ratio === undefined || unit === '%' ? '' : `${ratio.toFixed(2)}×`]
}

/** A share of a core is said in seconds an hour, too. */
const amount = (value: number, unit: DaemonFigure['unit']): string => {
  if (unit === '%') return `${value.toFixed(3)} %, ${(value * 36).toFixed(1)} s/h`
  return `${value.toFixed(Math.abs(value) < 10 ? 2 : 0)} ${unit}`
}

const mustOf = ({ must, unit }: DaemonFigure): string => {
  if (must === undefined) return ''
  if ('ratio' in must) return `≤ ${must.ratio}×`
  return `≤ ${[...new Set(Object.values(must.value))].join(' / ')} ${unit}`
}

/** Of the gateway, from its package and from its sources. */
const verdictOf = (figure: DaemonFigure): string =>
  (['package', 'sources'] as const)
    .map((name) => isMet(figure, name))
    .filter((met) => met !== undefined)
    .map((met) => (met ? 'met' : 'over'))
    .join(', ')

const comparedTable = (compared: readonly ComparedRatio[]): string =>
  printTable(
    ['figure', 'target', 'now', 'then', 'change'],
    compared.map(({ figure, target, ratio, earlier }) => [
      figure,
      target,
      digits(ratio),
      digits(earlier),
      earlier === 0 ? '' : `${ratio < earlier ? '' : '+'}${((ratio / earlier - 1) * 100).toFixed(0)} %`,
    ]),
  )

const digits = (ratio: number): string => String(Number(ratio.toPrecision(3)))
