import { printTable } from '../kit/table.ts'
import type { DaemonResult } from '../suites/daemon.ts'
import type { ComparedRatio } from './baseline.ts'
import { type DaemonFigure, isMet, type MeasuredName } from './figures.ts'

const order: readonly MeasuredName[] = ['provider', 'raw', 'reference', 'package', 'sources', 'portkey']

/** Formats the daemon suite as tables. */
export const daemonText = ({ left_out, notes, figures, compared, baseline, failures }: DaemonResult): string => {
  if (left_out !== null) return `daemon: ${left_out}`
  const parts = [figuresTable(figures)]
  const beside = figures.filter(({ unit, least }) => unit === 'µs' && least.reference !== undefined)
  if (beside.length > 0) parts.push(leastTable(beside))
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

/** The least CPU of the rounds, in ratios to the raw pass-through and to the other checkout. */
const leastTable = (figures: readonly DaemonFigure[]): string => {
  const [own = 'sources'] = (['sources', 'package'] as const).filter((name) =>
    figures.some(({ least }) => least[name] !== undefined),
  )
  return printTable(
    [`least CPU`, 'raw', 'reference', own, 'reference/raw', `${own}/raw`, `${own}/reference`],
    figures.map(({ title, least: { raw = Number.NaN, reference = Number.NaN, [own]: value = Number.NaN } }) => [
      title,
      ...[raw, reference, value].map((us) => amount(us, 'µs')),
      ...[reference / raw, value / raw, value / reference].map((ratio) => ratio.toFixed(2)),
    ]),
  )
}

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
