import type { Reader, Usage } from 'guard-gateway/core'
import { pages } from 'guard-gateway/lib/paging'
import type { CallRecord } from 'guard-gateway/lib/trace'
import { type Cell, csvLine } from './csv.ts'
import { failures } from './figures/measures.ts'

/** Range of calls, in milliseconds since 1970; `until` is exclusive. */
export interface AggregateRange {
  readonly since?: number
  readonly until?: number
  readonly project_id?: string
}

const TOKENS = [
  'input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'total_tokens',
] as const satisfies readonly (keyof Usage)[]
const GROUP = ['project_id', 'agent_id', 'style', 'model_requested', 'upstream'] as const
const COUNTS = ['requests', 'allowed', 'flagged', 'blocked', 'blocked_retries', 'errors'] as const
const SUMS = ['bytes_in', 'bytes_out', 'duration_ms'] as const
/** The last column, so that the positions of others do not change. */
const COST = 'cost_micro'
const MEASURES = [...COUNTS, ...TOKENS, ...SUMS, COST] as const
type Sums = Record<(typeof MEASURES)[number], number>

/** Totals per UTC day, project, agent, API style, model and upstream as CSV lines, oldest day first; cost in millionths of the billing currency. */
export async function* aggregatesCsv(storage: Reader, range: AggregateRange): AsyncGenerator<string> {
  yield csvLine(['day', ...GROUP, ...MEASURES])
  let day = ''
  let groups = new Map<string, Group>()
  for await (const calls of pages(storage, 'calls', { where: where(range), order: ['received_at', 'asc'] })) {
    for (const call of calls) {
      const today = new Date(call.received_at).toISOString().slice(0, 10)
      if (today !== day) {
        yield* lines(groups)
        groups = new Map()
        day = today
      }
      add(groups, day, call)
    }
  }
  yield* lines(groups)
}

/** Key and totals of a line. */
interface Group {
  readonly cells: readonly Cell[]
  readonly sums: Sums
}

const where = ({ since, until, project_id }: AggregateRange) => ({
  ...(since === undefined && until === undefined
    ? {}
    : {
        received_at: { ...(since === undefined ? {} : { gte: since }), ...(until === undefined ? {} : { lt: until }) },
      }),
  ...(project_id === undefined ? {} : { project_id }),
})

function* lines(groups: ReadonlyMap<string, Group>): Generator<string> {
  for (const { cells, sums } of groups.values()) yield csvLine([...cells, ...MEASURES.map((name) => sums[name])])
}

const add = (groups: Map<string, Group>, day: string, call: CallRecord): void => {
  const cells = [day, ...GROUP.map((name) => call[name])]
  const key = JSON.stringify(cells)
  const group = groups.get(key) ?? { cells, sums: zeros() }
  groups.set(key, group)
  count(group.sums, call)
}

const zeros = (): Sums => Object.fromEntries(MEASURES.map((name) => [name, 0])) as Sums

const BY_DECISION = { allow: 'allowed', shadow_flag: 'flagged', block: 'blocked' } as const

const count = (sums: Sums, call: CallRecord): void => {
  sums.requests++
  sums[BY_DECISION[call.decision]]++
  sums.blocked_retries += call.retries
  if (failures.has(call.outcome)) sums.errors++
  for (const name of TOKENS) sums[name] += call[name]
  sums.bytes_in += call.bytes_in
  sums.bytes_out += call.bytes_out
  sums[COST] += call.cost_micro ?? 0
  sums.duration_ms += Math.max(0, call.ended_at - call.received_at)
}
