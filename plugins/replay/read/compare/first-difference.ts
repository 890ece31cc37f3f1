import { cutText } from '#lib/text'
import type { ComparedRow } from './row.ts'

/** Where two runs part. */
export interface FirstDifference {
  /** Number of the row from 1, the root left out. */
  readonly step: number
  readonly left_span_id: string | null
  readonly right_span_id: string | null
  /** One sentence. */
  readonly text: string
}

/** The first step that is not the same in both; null if all are. Durations, tokens and cost may differ. */
export const firstDifference = (rows: readonly ComparedRow[]): FirstDifference | null => {
  const steps = rows[0]?.presence === 'both' ? rows.slice(1) : rows
  const at = steps.findIndex(isOther)
  const row = steps[at]
  if (row === undefined) return null
  return {
    step: at + 1,
    left_span_id: row.left?.span_id ?? null,
    right_span_id: row.right?.span_id ?? null,
    text: `They part at step ${at + 1}: ${wordsFor(steps, at, row)}.`,
  }
}

const isOther = (row: ComparedRow): boolean =>
  row.presence !== 'both' || row.status_changed || row.label_changed || row.arguments_changed

const LABEL_CHARS = 60

/** The tool, model or command of one side, or else the name of its span. */
const nameOf = ({ name }: ComparedRow, label: string | null | undefined): string => cutText(label ?? name, LABEL_CHARS)

const wordsFor = (steps: readonly ComparedRow[], at: number, row: ComparedRow): string => {
  if (row.presence !== 'both') return onlyWords(steps, at, row.presence)
  const [left, right] = [nameOf(row, row.left?.label), nameOf(row, row.right?.label)]
  if (row.label_changed) return `left has ${left}, right has ${right}`
  if (row.arguments_changed) return `both call ${left}, with other arguments`
  return `${left} ends as ${row.left?.status} on the left, as ${row.right?.status} on the right`
}

/** What a side alone has, and what the other does there. */
const onlyWords = (steps: readonly ComparedRow[], at: number, side: 'left' | 'right'): string => {
  const other = side === 'left' ? 'right' : 'left'
  const rest = steps.slice(at)
  const there = rest.find(({ presence }) => presence !== side)
  const does = repeatWords(steps, at, side)
  if (there === undefined) return side === 'left' ? `left ${does}, right ends` : `left ends, right ${does}`
  const goesOn = `${other} goes on with ${nameOf(there, there[other]?.label)}`
  return side === 'left' ? `left ${does}, ${goesOn}` : `${goesOn}, right ${does}`
}

const MAX_PERIOD = 5

/** The steps that one side alone has from here on: a repetition of one or a few, or the first of them. */
const repeatWords = (steps: readonly ComparedRow[], at: number, side: 'left' | 'right'): string => {
  const end = steps.findIndex(({ presence }, index) => index > at && presence !== side)
  const own = steps.slice(at, end < 0 ? steps.length : end)
  for (let period = 1; period <= MAX_PERIOD; period++) {
    const count = cyclesOf(own, period)
    const follows = isRepetition(steps, at, period, side)
    if (count < 2 && !follows) continue
    const name = nameOfCycle(own.slice(0, period), side)
    return `${follows ? 'repeats' : 'has'} ${name}${count === 1 ? '' : ` ${timesText(count)}`}`
  }
  const [row] = own
  return `has ${row === undefined ? 'more' : nameOf(row, row[side]?.label)}`
}

/** How often the first `period` steps come one after the other. */
const cyclesOf = (own: readonly ComparedRow[], period: number): number => {
  let at = period
  while (at < own.length && isSameStep(own[at - period] as ComparedRow, own[at] as ComparedRow)) at++
  return own.length < period ? 0 : Math.floor(at / period)
}

/** The steps before are those of the first cycle already. */
const isRepetition = (steps: readonly ComparedRow[], at: number, period: number, side: 'left' | 'right'): boolean =>
  at >= period &&
  at + period <= steps.length &&
  Array.from({ length: period }, (_, index) => index).every((index) => {
    const [before, now] = [steps[at - period + index], steps[at + index]]
    return before?.name === now?.name && before?.[side]?.label === now?.[side]?.label
  })

/** What a cycle is called: its tool or command rather than the request that asks for it. */
const nameOfCycle = (cycle: readonly ComparedRow[], side: 'left' | 'right'): string => {
  const row = cycle.find(({ name }) => !name.startsWith('gen_ai.')) ?? cycle[0]
  return row === undefined ? '' : nameOf(row, row[side]?.label)
}

const NUMBERS = [
  '',
  'once',
  'twice',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
]

const timesText = (count: number): string => {
  const word = NUMBERS[count]
  if (word === undefined) return `${count.toLocaleString('en')} times`
  return count < 3 ? word : `${word} times`
}

/** Two rows tell the same: the same step, with the same outcome and the same change. */
const isSameStep = (one: ComparedRow, other: ComparedRow): boolean =>
  one.presence === other.presence &&
  one.name === other.name &&
  one.left?.label === other.left?.label &&
  one.right?.label === other.right?.label &&
  one.left?.status === other.left?.status &&
  one.right?.status === other.right?.status &&
  one.arguments_changed === other.arguments_changed

/** Rows with those that tell the same in a row put together, in order. */
export const repeatsOf = (rows: readonly ComparedRow[]): readonly (readonly [ComparedRow, ...ComparedRow[]])[] => {
  const groups: [ComparedRow, ...ComparedRow[]][] = []
  for (const row of rows) {
    const group = groups.at(-1)
    if (group !== undefined && isSameStep(group[0], row)) group.push(row)
    else groups.push([row])
  }
  return groups
}
