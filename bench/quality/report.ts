import { duration, printTable } from '../kit/table.ts'
import { collectionOf, type Summary } from './summary.ts'
import { wasteTable } from './waste-report.ts'

/** Rates over fewer cases are printed with the number of cases. */
const FEW = 20

/** Formats summaries as tables: one per suite and collection, and optionally per source and kind. */
export const qualityText = (summaries: readonly Summary[], groups: boolean): string =>
  [...Map.groupBy(summaries, ({ suite }) => suite)]
    .flatMap(([suite, members]) => [...collectionTables(suite, members), suiteTable(suite, members, groups)])
    .join('\n\n')

/** Empty for a single collection, which equals the suite. */
const collectionTables = (suite: string, members: readonly Summary[]): string[] => {
  const collections = Map.groupBy(members, collectionOf)
  collections.delete(null)
  if (collections.size < 2) return []
  return [...collections].map(([name, these]) => section(`${suite}, ${name}`, these.map(asWhole)))
}

const suiteTable = (suite: string, members: readonly Summary[], groups: boolean): string => {
  const shown = members.filter((one) => one.group === 'all' || (groups && collectionOf(one) === null))
  return suite === 'vectors' ? `${suite}\n${vectorTable(shown)}` : section(suite, shown)
}

const section = (title: string, summaries: readonly Summary[]): string => {
  const whole = summaries.filter(({ group }) => group === 'all')
  const waste = whole.some(({ suite }) => suite === 'corpus') ? wasteTable(whole) : ''
  return [`${title}\n${table(summaries)}`, intervals(whole), waste].filter((part) => part !== '').join('\n\n')
}

const asWhole = (summary: Summary): Summary => ({ ...summary, group: 'all' })

const table = (summaries: readonly Summary[]): string =>
  printTable(
    [
      'detector',
      'runs',
      'loops',
      'precision',
      'recall',
      'clean flagged',
      'solved hit',
      'lag',
      'tokens saved',
      'p50',
      'p99',
      'state',
    ],
    summaries.map((one) => [nameOf(one), String(one.n), String(one.loops), ...figures(one), ...costs(one)]),
  )

/** Formats the confidence intervals. */
const intervals = (summaries: readonly Summary[]): string => {
  const rows = summaries.flatMap(({ detector, intervals_95: found }) =>
    found === null
      ? []
      : [[detector.id, span(found.precision), span(found.recall), span(found.clean_fp_rate), String(found.tasks)]],
  )
  if (rows.length === 0) return ''
  return `95 % of collections with other tasks of the same kind\n${printTable(['detector', 'precision', 'recall', 'clean flagged', 'tasks'], rows)}`
}

const span = (rates: readonly [number, number] | null): string =>
  rates === null ? '-' : `${(rates[0] * 100).toFixed(1)} – ${percent(rates[1])}`

const nameOf = ({ detector, group }: Summary): string => (group === 'all' ? detector.id : `${detector.id} (${group})`)

const figures = (one: Summary): string[] => {
  if (one.loops + one.cleans === 0) return [unlabelled(one), '', '', '', '', '']
  return [
    share(one.precision, one.loops + one.cleans) + delta(one, 'precision'),
    share(one.recall, one.loops) + delta(one, 'recall'),
    share(one.clean_fp_rate, one.cleans) + delta(one, 'clean_fp_rate'),
    `${one.harmful_blocks} of ${one.solved}`,
    one.median_lag === null ? '' : String(one.median_lag),
    one.tokens_saved_share === null ? '' : percent(one.tokens_saved_share),
  ]
}

/** Without labels only the number of runs with an alarm is known. */
const unlabelled = ({ alarms, n, ns_per_decision }: Summary): string =>
  ns_per_decision === null ? 'no evidence' : `${alarms} of ${n} flagged`

const share = (rate: number | null, of: number): string => {
  if (rate === null) return '-'
  return of < FEW ? `${percent(rate)} (n=${of})` : percent(rate)
}

const percent = (rate: number): string => `${(rate * 100).toFixed(1)} %`

const delta = ({ baseline }: Summary, name: string): string => {
  const change = baseline?.deltas[name]
  if (change === undefined || Math.abs(change) < 0.0005) return ''
  return ` (${change > 0 ? '+' : ''}${(change * 100).toFixed(1)})`
}

const costs = ({ ns_per_decision, state_bytes_p99 }: Summary): string[] => [
  ns_per_decision === null ? '' : duration(ns_per_decision.p50 / 1e6),
  ns_per_decision === null ? '' : duration(ns_per_decision.p99 / 1e6),
  state_bytes_p99 === null ? '' : `${(state_bytes_p99 / 1024).toFixed(0)} KiB`,
]

const vectorTable = (summaries: readonly Summary[]): string =>
  printTable(
    ['rules', 'must', 'should'],
    summaries.map((one) => [nameOf(one), ratio(one.vectors?.must), ratio(one.vectors?.should)]),
  )

const ratio = (passed: { readonly pass: number; readonly total: number } | undefined): string =>
  passed === undefined || passed.total === 0 ? '-' : `${passed.pass} of ${passed.total}`
