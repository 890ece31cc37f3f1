import type { Storage } from 'guard-gateway/core'
import { isRefusing } from '#lib/session'
import type { FlagGroupTotal, FlagReport, FlagReportQuery, RuleReport, Savings, SinceFlag } from '#lib/trace'
import { HOUR_MS, hourOf, startOf } from '../figures/hours.ts'
import { flagKey, flagMeasures } from './tables.ts'

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** What flags and blocks came to in whole hours, from their sums by hour. */
export const readFlagReport = async (
  storage: Pick<Storage, 'sum'>,
  { since, until, project_id, limit }: FlagReportQuery,
): Promise<FlagReport> => {
  const from = Math.floor(since / HOUR_MS) * HOUR_MS
  const to = Math.max(from, Math.ceil(until / HOUR_MS) * HOUR_MS)
  const groups = costliest(await groupsBetween(storage, from, to, project_id))
  const savings = groups.filter((group) => group.would_refuse && group.requests_since_flag > 0)
  return {
    since: from,
    until: to,
    saved: savingsOf(savings),
    flagged: total(groups, 'flagged'),
    blocked: total(groups, 'blocked'),
    blocked_retries: total(groups, 'blocked_retries'),
    rules: costliest(rulesOf(groups)),
    projects: costliest(projectsOf(savings)),
    groups: groups.slice(0, limit),
  }
}

/** Rows of the hours by session and rule. */
const groupsBetween = async (
  storage: Pick<Storage, 'sum'>,
  from: number,
  to: number,
  project_id: string | undefined,
): Promise<readonly FlagGroupTotal[]> => {
  if (from === to) return []
  const where = {
    hour: { gte: hourOf(from), lt: hourOf(to) },
    ...(project_id === undefined ? {} : { project_id }),
  }
  const query = { where, order: ['hour', 'asc'], by: flagKey, of: flagMeasures } as const
  const groups = new Map<string, Writable<FlagGroupTotal>>()
  for (const { by, sums } of await storage.sum('flags_by_hour', query)) {
    const { session_id, project_id, rule_id, reason, action } = by
    const name = [session_id, rule_id, reason, action].join('\0')
    const at = startOf(String(by.hour))
    const known = groups.get(name)
    if (known !== undefined) {
      for (const measure of flagMeasures) known[measure] += sums[measure]
      known.last_hour_at = Math.max(known.last_hour_at, at)
      continue
    }
    groups.set(name, {
      session_id: String(session_id),
      project_id: String(project_id),
      rule_id: String(rule_id) || null,
      reason: String(reason) || null,
      action: String(action) || null,
      would_refuse: isRefusing(String(action)),
      ...sums,
      last_hour_at: at,
    })
  }
  return [...groups.values()]
}

const total = <N extends string>(rows: readonly Readonly<Record<N, number>>[], name: N): number =>
  rows.reduce((sum, row) => sum + row[name], 0)

const savingsOf = (groups: readonly FlagGroupTotal[]): Savings => ({
  sessions: new Set(groups.map(({ session_id }) => session_id)).size,
  requests_since_flag: total(groups, 'requests_since_flag'),
  tokens_since_flag: total(groups, 'tokens_since_flag'),
  cost_since_flag_micro: total(groups, 'cost_since_flag_micro'),
})

const rulesOf = (groups: readonly FlagGroupTotal[]): readonly RuleReport[] => {
  const byRule = Map.groupBy(groups, ({ rule_id, reason, action }) => [rule_id, reason, action].join('\0'))
  return [...byRule.values()].flatMap((of) => {
    const [first] = of
    if (first === undefined) return []
    const { rule_id, reason, action, would_refuse } = first
    const counts = {
      flagged: total(of, 'flagged'),
      blocked: total(of, 'blocked'),
      blocked_retries: total(of, 'blocked_retries'),
    }
    return [{ rule_id, reason, action, would_refuse, ...counts, ...savingsOf(of) }]
  })
}

const projectsOf = (groups: readonly FlagGroupTotal[]) =>
  [...Map.groupBy(groups, ({ project_id }) => project_id)].map(([project_id, of]) => ({ project_id, ...savingsOf(of) }))

const costliest = <R extends SinceFlag & { readonly flagged?: number }>(rows: readonly R[]): readonly R[] =>
  rows.toSorted(
    (one, other) =>
      other.cost_since_flag_micro - one.cost_since_flag_micro ||
      other.tokens_since_flag - one.tokens_since_flag ||
      (other.flagged ?? 0) - (one.flagged ?? 0),
  )
