import { text } from 'node:stream/consumers'
import type { Input, Io } from '#lib/command'
import { costText, groupedText } from '#lib/format'
import { readJson } from '#lib/json'
import { columnLines, hint, terminalWidth } from '#lib/terminal'
import { terminalLine } from '#lib/text'
import type { StatsSums } from '../stats/tally.ts'
import type { ReplayCommandOptions } from './command-options.ts'
import { FILTERS, queryOf } from './list-query.ts'

interface Answer {
  readonly of: string
  readonly group: string
  readonly runs: number
  readonly complete: boolean
  readonly covered_since: string | null
  readonly totals: StatsSums
  readonly series: readonly {
    readonly group: string | null
    readonly totals: StatsSums
    readonly buckets: readonly (StatsSums & { readonly at: string })[]
  }[]
}

const OWN = { of: 'of', by: 'group', step: 'step', 'time-zone': 'time_zone' }
const { sort: _sort, ...filters } = FILTERS

/** Prints sums and percentiles: a line for each group, or for each step of each group where a step is named. */
export const showStats = async ({ asking }: ReplayCommandOptions, input: Input, io: Io): Promise<number> => {
  const query = queryOf(input, { ...filters, ...OWN }, { step: 'whole' })
  const answer = await asking(async (ask) => text(await ask('GET', `/api/v1/stats?${query}`)))
  if (input.options.json === true) {
    io.out.write(`${answer}\n`)
    return 0
  }
  const stats = readJson(answer) as Answer
  if (stats.totals.count === 0) io.err.write(`There are no such ${stats.of}.\n`)
  else for (const line of linesOf(stats, input, io)) io.out.write(`${line}\n`)
  if (!stats.complete)
    hint(
      `these are the newest ${groupedText(stats.runs)} runs, from ${stats.covered_since}; ask for a shorter time.`,
      input,
      io,
    )
  return 0
}

const figures: ReadonlySet<number> = new Set([2, 3, 4, 5, 6, 7, 8, 9])
/** Cached, p99, from. */
const spare = [5, 9, 1]
const free = new Map([[0, 16]])

const linesOf = (stats: Answer, { options }: Input, io: Io): readonly string[] => {
  const isStepped = options.step !== undefined && options.step !== 'whole'
  const head = [
    stats.group === 'none' ? 'all' : stats.group,
    isStepped ? 'from' : '',
    ...[stats.of, 'failed', 'in', 'cached', 'out', 'cost', 'p50', 'p95', 'p99'],
  ]
  const rows = stats.series.flatMap(({ group, totals, buckets }) =>
    isStepped ? buckets.map((each) => rowOf(group, each.at, each)) : [rowOf(group, '', totals)],
  )
  const total = stats.series.length > 1 ? [rowOf('total', '', stats.totals)] : []
  return columnLines([head, ...rows, ...total], figures, { width: terminalWidth(io.out), spare, free })
}

const rowOf = (group: string | null, at: string, sums: StatsSums): readonly string[] => [
  terminalLine(group ?? '–'),
  at.replace('T', ' ').replace(/:00\.000Z$/, ''),
  groupedText(sums.count),
  groupedText(sums.errors),
  groupedText(sums.input_tokens),
  groupedText(sums.cached_input_tokens),
  groupedText(sums.output_tokens),
  costText(sums.cost_micro),
  tookText(sums.p50_ms),
  tookText(sums.p95_ms),
  tookText(sums.p99_ms),
]

/** Milliseconds as text. */
const tookText = (ms: number | null): string => {
  if (ms === null) return '–'
  return ms < 1_000 ? `${Math.round(ms)}ms` : `${(ms / 1_000).toFixed(1)}s`
}
