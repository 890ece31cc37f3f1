import { type Intervals, intervalsOf } from './intervals.ts'
import { type Observation, quantile } from './observation.ts'
import { type LostSummary, lostWork, type WasteSummary, wasteOfAll } from './waste-summary.ts'

/** The results of a detector on a group of cases: a line of `bench.summary.v1`. A rate is null if its divisor is 0. */
export interface Summary {
  readonly schema: 'bench.summary.v1'
  readonly run_id: string
  readonly suite: Observation['suite']
  readonly detector: Observation['detector']
  /** `all`, or `collection`, `source`, `style` or `kind` with its value. */
  readonly group: string
  readonly n: number
  readonly excluded: number
  readonly loops: number
  readonly cleans: number
  readonly solved: number
  /** Runs with a match, whatever their label. */
  readonly alarms: number
  readonly precision: number | null
  readonly recall: number | null
  readonly f1: number | null
  readonly clean_fp_rate: number | null
  readonly harmful_blocks: number
  readonly harmful_block_rate: number | null
  readonly unresolved_block_rate: number | null
  /** Confidence intervals for recorded runs, overall and per collection. Null for other groups. */
  readonly intervals_95: Intervals | null
  readonly median_lag: number | null
  readonly tokens_saved_share: number | null
  /** Null if no run is a loop. */
  readonly waste: WasteSummary | null
  readonly lost: LostSummary
  readonly vectors: Record<'must' | 'should', { readonly pass: number; readonly total: number }> | null
  readonly ns_per_decision: { readonly p50: number; readonly p99: number } | null
  readonly ops_per_second: number | null
  readonly state_bytes_p99: number | null
  readonly baseline: { readonly name: string; readonly deltas: Readonly<Record<string, number>> } | null
}

/** The collection of a summary. Null for another group. */
export const collectionOf = ({ group }: Pick<Summary, 'group'>): string | null =>
  group.startsWith(COLLECTION) ? group.slice(COLLECTION.length) : null

/** Summaries per detector and suite: of all cases, of each collection, and of each source, style and kind if there are several. */
export const summarise = (observations: readonly Observation[]): readonly Summary[] => {
  const subjects = Map.groupBy(observations, ({ suite, detector }) => `${suite} ${detector.id}`)
  return [...subjects.values()].flatMap((mine) => [
    summaryOf('all', mine),
    ...collections(mine),
    ...groupsBy('source', mine),
    ...groupsBy('style', mine),
    ...groupsBy('kind', mine),
  ])
}

const COLLECTION = 'collection '

const collections = (mine: readonly Observation[]): Summary[] => {
  const groups = Map.groupBy(mine, ({ collection }) => collection)
  groups.delete(null)
  return [...groups].map(([name, members]) => summaryOf(`${COLLECTION}${name}`, members))
}

const groupsBy = (field: 'source' | 'style' | 'kind', mine: readonly Observation[]): Summary[] => {
  const groups = Map.groupBy(mine, (one) => one[field])
  groups.delete(null)
  if (groups.size < 2 && groups.values().next().value?.length === mine.length) return []
  return [...groups].map(([value, members]) => summaryOf(`${field} ${value}`, members))
}

const summaryOf = (group: string, members: readonly Observation[]): Summary => {
  const count = (...outcomes: readonly Observation['outcome'][]) =>
    members.filter(({ outcome }) => outcomes.includes(outcome)).length
  const shown = members.filter(({ error }) => error === null)
  const loops = count('tp', 'fn', 'early')
  const cleans = count('fp', 'tn')
  const precision = rate(count('tp'), count('tp', 'fp', 'early'))
  const recall = rate(count('tp'), loops)
  const solved = shown.filter(({ resolved }) => resolved === true)
  const unsolved = shown.filter(({ resolved }) => resolved === false)
  const harmful_blocks = solved.filter((one) => one.harmful_block).length
  const [first] = members
  if (first === undefined) throw new RangeError(`the group ${group} is empty`)
  return {
    schema: 'bench.summary.v1',
    run_id: first.run_id,
    suite: first.suite,
    detector: first.detector,
    group,
    n: members.length,
    excluded: count('excluded'),
    loops,
    cleans,
    solved: solved.length,
    alarms: members.filter((one) => one.first_detection_step !== null).length,
    precision,
    recall,
    f1: precision === null || recall === null ? null : rate(2 * precision * recall, precision + recall),
    clean_fp_rate: rate(count('fp'), cleans),
    harmful_blocks,
    harmful_block_rate: rate(harmful_blocks, solved.length),
    unresolved_block_rate: rate(unsolved.filter((one) => one.first_detection_step !== null).length, unsolved.length),
    intervals_95: first.suite === 'corpus' && isWhole(group) && loops + cleans > 0 ? intervalsOf(members) : null,
    median_lag: numberOrNull(
      quantile(
        members.flatMap(({ lag_steps }) => lag_steps ?? []),
        0.5,
      ),
    ),
    tokens_saved_share: rate(total(shown, 'tokens_saved'), total(shown, 'tokens_total')),
    waste: wasteOfAll(shown),
    lost: lostWork(shown),
    vectors: first.suite === 'vectors' ? { must: passed(members, 'must'), should: passed(members, 'should') } : null,
    ...speed(shown),
    state_bytes_p99: numberOrNull(
      quantile(
        shown.flatMap(({ state_bytes }) => state_bytes ?? []),
        0.99,
      ),
    ),
    baseline: null,
  }
}

const isWhole = (group: string): boolean => group === 'all' || group.startsWith(COLLECTION)

/** A typical case: the medians of the cases' medians and of their 99th percentiles. */
const speed = (members: readonly Observation[]): Pick<Summary, 'ns_per_decision' | 'ops_per_second'> => {
  const latencies = members.flatMap(({ latency_ns }) => latency_ns ?? [])
  if (latencies.length === 0) return { ns_per_decision: null, ops_per_second: null }
  const requests = latencies.reduce((sum, { n }) => sum + n, 0)
  const spent = latencies.reduce((sum, { n, mean }) => sum + n * mean, 0)
  const p50 = quantile(
    latencies.map((one) => one.p50),
    0.5,
  )
  const p99 = quantile(
    latencies.map((one) => one.p99),
    0.5,
  )
  return { ns_per_decision: { p50, p99 }, ops_per_second: spent === 0 ? null : Math.round((requests / spent) * 1e9) }
}

const passed = (members: readonly Observation[], tier: 'must' | 'should') => {
  const those = members.filter((one) => one.tier === tier)
  return { pass: those.filter(({ outcome }) => outcome === 'pass').length, total: those.length }
}

const rate = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole)
const numberOrNull = (value: number): number | null => (Number.isNaN(value) ? null : value)
const total = (members: readonly Observation[], field: 'tokens_saved' | 'tokens_total'): number =>
  members.reduce((sum, one) => sum + one[field], 0)
