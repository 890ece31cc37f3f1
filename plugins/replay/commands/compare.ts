import { text } from 'node:stream/consumers'
import type { Input, Io } from 'guard-gateway/lib/command'
import { costText } from 'guard-gateway/lib/format'
import { readJson } from 'guard-gateway/lib/json'
import { terminalLine } from 'guard-gateway/lib/text'
import type { ComparedRow, Comparison } from '../read/compare.ts'
import type { ReplayCommandOptions } from './command-options.ts'
import { durationOf } from './list.ts'

/** Prints the deltas of the right run, then the paired spans. `--only-changed` omits equal rows. */
export const compareRuns = async ({ asking }: ReplayCommandOptions, input: Input, io: Io): Promise<number> => {
  const [left, right] = input.args
  const body = JSON.stringify({ left, right })
  const answer = await asking(async (ask) => text(await ask('POST', '/api/v1/compare', body)))
  if (input.options.json === true) {
    io.out.write(`${answer}\n`)
    return 0
  }
  const compared = readJson(answer) as Comparison
  for (const line of totals(compared)) io.out.write(`${line}\n`)
  const rows = compared.spans.filter((row) => input.options.onlyChanged !== true || changed(row))
  for (const line of aligned(rows.map(cellsOf))) io.out.write(`${line}\n`)
  if (input.options.quiet !== true)
    for (const { message } of compared.warnings) io.err.write(`warning: ${terminalLine(message)}\n`)
  return 0
}

const changed = (row: ComparedRow): boolean => row.presence !== 'both' || row.status_changed || row.label_changed

const marks = { both: ' ', left: '-', right: '+' } as const

/** Symbol (`-` left only, `+` right only, `~` changed), span, both statuses, labels if they differ, and the difference in time. */
const cellsOf = (row: ComparedRow): readonly string[] => {
  const { key, presence, left, right, label_changed, duration_delta_ns } = row
  return [
    presence === 'both' && changed(row) ? '~' : marks[presence],
    key,
    left?.status ?? '',
    right?.status ?? '',
    label_changed ? `${left?.label ?? 'none'} → ${right?.label ?? 'none'}` : '',
    duration_delta_ns === null ? '' : longer(duration_delta_ns),
  ]
}

/** Responses have small integers as numbers, larger ones as bigint. */
type Count = bigint | number

const totals = ({ left, right, deltas }: Comparison): readonly string[] =>
  aligned([
    ['', left.trace_id, right.trace_id],
    ['status', left.status, right.status, left.status === right.status ? '' : 'changed'],
    ['tag', left.failure_tag ?? '', right.failure_tag ?? '', left.failure_tag === right.failure_tag ? '' : 'changed'],
    [
      'duration',
      durationOf(left.duration_ns),
      durationOf(right.duration_ns),
      deltas.duration_ns === null ? '' : longer(deltas.duration_ns),
    ],
    ['tokens', String(left.total_tokens), String(right.total_tokens), more(deltas.total_tokens)],
    ['cost', costText(left.cost_micro), costText(right.cost_micro), more(deltas.cost_micro, costText)],
    ['spans', String(left.span_count), String(right.span_count), more(deltas.span_count)],
    ['events', String(left.event_count), String(right.event_count), more(deltas.event_count)],
  ])

/** A difference with its sign. */
const more = (value: Count, written: (of: Count) => string = String): string =>
  `${Number(value) > 0 ? '+' : ''}${written(value)}`

const longer = (ns: Count): string => `${Number(ns) < 0 ? '-' : '+'}${durationOf(Math.abs(Number(ns)))}`

/** Aligns columns. */
const aligned = (rows: readonly (readonly string[])[]): readonly string[] => {
  const cells = rows.map((row) => row.map((cell) => terminalLine(cell)))
  const widths: number[] = []
  for (const row of cells)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length)
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
