import { text } from 'node:stream/consumers'
import { GuardError } from 'guard-gateway/core'
import type { Input, Io } from '#lib/command'
import { costText, groupedText } from '#lib/format'
import { readJson } from '#lib/json'
import { columnLines, listedId, paintedWord, painter, terminalWidth } from '#lib/terminal'
import { terminalLine } from '#lib/text'
import { repeatsOf } from '../read/compare/first-difference.ts'
import { type Alignment, alignments, type ComparedRow, type Comparison } from '../read/compare.ts'
import type { ReplayCommandOptions } from './command-options.ts'
import { durationOf } from './list.ts'
import { runId } from './run-id.ts'

/** Prints where the runs part, the deltas of the right run, then the paired spans, repetitions as one row. `--only-changed` omits equal rows, `--all` repeats none. */
export const compareRuns = async ({ asking }: ReplayCommandOptions, input: Input, io: Io): Promise<number> => {
  const align = alignmentIn(input)
  const answer = await asking(async (ask) => {
    const [left, right] = [await runId(ask, input.args[0]), await runId(ask, input.args[1])]
    return text(await ask('POST', '/api/v1/compare', JSON.stringify({ left, right, align })))
  })
  if (input.options.json === true) {
    io.out.write(`${answer}\n`)
    return 0
  }
  const compared = readJson(answer) as Comparison
  const parting = compared.first_difference?.text ?? 'Both took the same steps.'
  io.out.write(`${terminalLine(parting)}\n`)
  const width = terminalWidth(io.out)
  const colour = painter(input, io)
  const paint = (cell: string): string => paintedWord(cell, colour)
  const sums = cleaned(totals(compared, width !== undefined))
  for (const line of columnLines(sums, new Set(), { width, spare: [], paint })) io.out.write(`${line}\n`)
  const rows = compared.spans.filter((row) => input.options.onlyChanged !== true || changed(row))
  const groups = input.options.all === true ? rows.map((row) => [row] as const) : repeatsOf(rows)
  const drawing = { width, spare, free, paint }
  for (const line of spanLines(groups, drawing, input.options.attributes === true)) io.out.write(`${line}\n`)
  if (input.options.quiet !== true)
    for (const { message } of compared.warnings) io.err.write(`warning: ${terminalLine(message)}\n`)
  return 0
}

type Group = readonly [ComparedRow, ...ComparedRow[]]

/** Lines of the paired spans; on demand with the attributes that differ below them. */
function* spanLines(
  groups: readonly Group[],
  drawing: Parameters<typeof columnLines>[2],
  withAttributes: boolean,
): Generator<string> {
  const lines = [...columnLines(cleaned([columnHead, ...groups.map(cellsOf)]), new Set(), drawing)]
  for (const [at, line] of lines.entries()) {
    yield line
    const [row] = groups[at - 1] ?? []
    if (!withAttributes || row === undefined) continue
    for (const { name, left, right } of row.attribute_changes)
      yield terminalLine(`      ${name}: ${left ?? 'none'} → ${right ?? 'none'}`)
  }
}

const alignmentIn = ({ options }: Input): Alignment => {
  const { align = 'sequence' } = options
  const known = alignments.find((one) => one === align)
  if (known === undefined) throw new GuardError('USAGE', `--align must be one of ${alignments.join(', ')}.`)
  return known
}

const changed = (row: ComparedRow): boolean =>
  row.presence !== 'both' || row.status_changed || row.label_changed || row.arguments_changed

const marks = { both: ' ', left: '-', right: '+' } as const

/** Cost, tokens, tool or model. */
const spare = [7, 6, 4]
/** Span, tool or model. */
const free = new Map([
  [1, 20],
  [4, 14],
])
const columnHead = ['', 'span', 'left', 'right', 'tool or model', 'time', 'tokens', 'cost']

/** Symbol (`-` left only, `+` right only, `~` changed), span, both statuses, tool or model, and the differences in time, tokens and cost of all rows that tell the same. */
const cellsOf = (rows: readonly [ComparedRow, ...ComparedRow[]]): readonly string[] => {
  const [row] = rows
  const { key, presence, left, right, label_changed, arguments_changed } = row
  const one = left?.label ?? right?.label ?? ''
  const label = label_changed ? `${left?.label ?? 'none'} → ${right?.label ?? 'none'}` : one
  const time = sumOf(rows, ({ duration_delta_ns }) => duration_delta_ns)
  return [
    presence === 'both' && changed(row) ? '~' : marks[presence],
    `${key.replace(/^\+/, '')}${rows.length > 1 ? ` ×${rows.length}` : ''}`,
    left?.status ?? '',
    right?.status ?? '',
    arguments_changed ? `${label} (other arguments)` : label,
    time === null ? '' : longer(time),
    moreOrNone(sumOf(rows, ({ tokens_delta }) => tokens_delta)),
    moreOrNone(
      sumOf(rows, ({ cost_delta_micro }) => cost_delta_micro),
      costText,
    ),
  ]
}

/** The sum of a figure; null if no row has it. */
const sumOf = (rows: readonly ComparedRow[], of: (row: ComparedRow) => Count | null): number | null => {
  const known = rows.map(of).filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce<number>((sum, value) => sum + Number(value), 0)
}

const moreOrNone = (value: number | null, written?: (of: Count) => string): string =>
  value === null || value === 0 ? '' : more(value, written)

/** Responses have small integers as numbers, larger ones as bigint. */
type Count = bigint | number

const totals = ({ left, right, deltas }: Comparison, isTerminal: boolean): readonly (readonly string[])[] => [
  ['', listedId(left.trace_id, isTerminal), listedId(right.trace_id, isTerminal)],
  ['status', left.status, right.status, left.status === right.status ? '' : 'changed'],
  ['tag', left.failure_tag ?? '', right.failure_tag ?? '', left.failure_tag === right.failure_tag ? '' : 'changed'],
  [
    'duration',
    durationOf(left.duration_ns),
    durationOf(right.duration_ns),
    deltas.duration_ns === null ? '' : longer(deltas.duration_ns),
  ],
  ['tokens', groupedText(left.total_tokens), groupedText(right.total_tokens), more(deltas.total_tokens)],
  ['cost', costText(left.cost_micro), costText(right.cost_micro), more(deltas.cost_micro, costText)],
  ['spans', groupedText(left.span_count), groupedText(right.span_count), more(deltas.span_count)],
  ['events', groupedText(left.event_count), groupedText(right.event_count), more(deltas.event_count)],
]

/** A difference with its sign. */
const more = (value: Count, written: (of: Count) => string = groupedText): string =>
  `${Number(value) > 0 ? '+' : ''}${written(value)}`

const longer = (ns: Count): string => `${Number(ns) < 0 ? '-' : '+'}${durationOf(Math.abs(Number(ns)))}`

const cleaned = (rows: readonly (readonly string[])[]): readonly (readonly string[])[] =>
  rows.map((row) => row.map((cell) => terminalLine(cell)))
