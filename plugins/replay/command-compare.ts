import { text } from 'node:stream/consumers'
import { type Gateway, type Input, type Io, readJson, terminalLine } from 'guard-gateway/core'
import { type AskOptions, asking } from './ask.ts'
import type { ComparedRow, Comparison } from './compare.ts'
import { durationText, type Ns, painter } from './plain.ts'

/** Prints what the right run has more or less than the left, then their spans side by side; `--only-changed` leaves out equal ones. */
export const compareRuns = async (gateway: Gateway, options: AskOptions, input: Input, io: Io): Promise<number> => {
  const [left, right] = input.args
  const body = JSON.stringify({ left, right })
  const answer = await asking(gateway, options, async (ask) => text(await ask('POST', '/api/v1/compare', body)))
  if (input.options.json === true) {
    io.out.write(`${answer}\n`)
    return 0
  }
  const compared = readJson(answer) as Comparison
  for (const line of totals(compared)) io.out.write(`${line}\n`)
  const rows = compared.spans.filter((row) => input.options.onlyChanged !== true || changed(row))
  const width = Math.max(0, ...rows.map(({ key }) => terminalLine(key).length))
  const paint = painter(input, io)
  for (const row of rows) {
    const status = [statusOf(row.left), statusOf(row.right)]
    const columns = [
      marks[row.presence],
      terminalLine(row.key).padEnd(width),
      status[0]?.padEnd(9),
      status[1]?.padEnd(9),
    ]
    io.out.write(`${paint([...columns, deltaText(row.duration_delta_ns)].join('  ').trimEnd(), colourOf(row))}\n`)
  }
  if (input.options.quiet !== true) for (const { message } of compared.warnings) io.err.write(`warning: ${message}\n`)
  return 0
}

const marks = { both: ' ', left: '-', right: '+' } as const

const changed = (row: ComparedRow): boolean => row.presence !== 'both' || row.status_changed || row.label_changed

const statusOf = (side: ComparedRow['left']): string => (side === null ? '' : terminalLine(side.status))

/** A span that only one run has, or that ended otherwise, stands out. */
const colourOf = (row: ComparedRow): string => {
  if (row.status_changed) return 'confirm'
  return row.presence === 'both' ? '' : { left: 'block', right: 'allow' }[row.presence]
}

/** Right minus left, signed; nothing where a side is missing or runs. */
const deltaText = (ns: Ns | null): string => {
  if (ns === null) return ''
  return Number(ns) > 0 ? `+${durationText(ns)}` : durationText(ns)
}

const totals = ({ left, right, deltas }: Comparison): readonly string[] => {
  const table: readonly (readonly [name: string, left: string, right: string, delta: string])[] = [
    ['', terminalLine(left.trace_id), terminalLine(right.trace_id), ''],
    ['status', left.status, right.status, left.status === right.status ? '' : 'changed'],
    ['tag', left.failure_tag ?? '', right.failure_tag ?? '', left.failure_tag === right.failure_tag ? '' : 'changed'],
    ['duration', durationText(left.duration_ns), durationText(right.duration_ns), deltaText(deltas.duration_ns)],
    ['tokens', String(left.total_tokens), String(right.total_tokens), signed(deltas.total_tokens)],
    ['cost', cost(left.cost_micro), cost(right.cost_micro), signed(Number(cost(deltas.cost_micro)))],
    ['spans', String(left.span_count), String(right.span_count), signed(deltas.span_count)],
    ['events', String(left.event_count), String(right.event_count), signed(deltas.event_count)],
  ]
  const width = (column: 1 | 2) => Math.max(...table.map((row) => row[column].length))
  const [one, other] = [width(1), width(2)]
  return table.map(([name, a, b, delta]) =>
    [name.padEnd(8), a.padEnd(one), b.padEnd(other), delta].join('  ').trimEnd(),
  )
}

const cost = (micro: Ns): string => (Number(micro) / 1_000_000).toFixed(4)

const signed = (value: Ns): string => (Number(value) > 0 ? `+${value}` : String(value))
