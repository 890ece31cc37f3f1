import { costText } from '#lib/format'
import { findRuns } from '../../api/find-runs.ts'
import { addUse, type Use } from '../../read/use.ts'
import { type UseRow, useRows } from '../../read/use-rows.ts'
import { statsQuery } from '../../stats/query.ts'
import { readStats, type Stats } from '../../stats/read-stats.ts'
import { isOwn, msOf, runView, short } from '../run-view.ts'
import { choice, input, list, number, output, runFilters, text } from '../schemas.ts'
import { type Answer, fitting, type ReadTool, type ToolContext } from '../tool.ts'
import type { ToolArguments } from '../tool-arguments.ts'

const MOST = 50
const groups = ['model', 'tool', 'command', 'run', 'session', 'agent', 'project'] as const
type Group = (typeof groups)[number]
/** What one answer reads at most: runs, and records of them where calls are told apart. */
const LIMITS = { runs: 5_000, records: 40_000 }

const costs = (cost_micro: number) => ({ cost_micro, cost: costText(cost_micro) })

const useView = (use: UseRow) => ({
  name: short(use.name) ?? 'unnamed',
  kind: use.kind,
  calls: use.calls,
  errors: use.errors,
  ...(use.p50_ns === null ? {} : { p50_ms: use.p50_ns / 1e6, p95_ms: (use.p95_ns ?? 0) / 1e6 }),
  ...(use.kind === 'model'
    ? { input_tokens: use.input_tokens, cached_input_tokens: use.cached_input_tokens, output_tokens: use.output_tokens }
    : {}),
  ...costs(use.cost_micro),
})

/** Models, tools and commands of one run. */
const ofRun = async (trace_id: string, most: number, { cache }: ToolContext): Promise<Answer> => {
  const trace = await cache.trace(trace_id)
  const uses = new Map<string, Use>()
  addUse(uses, trace.spans)
  const all = useRows(uses)
  return fitting(most, async (limit) => ({
    of: `run ${trace_id}`,
    total: costs(Number(trace.run.cost_micro)),
    groups: all.slice(0, limit).map(useView),
    left_out: Math.max(0, all.length - limit),
    complete: true,
  }))
}

const filtersOf = (args: ToolArguments) => {
  const filters = {
    project_id: args.text('project_id'),
    session_id: args.text('session_id'),
    agent: args.text('agent'),
    since: args.text('since'),
  }
  // a session or agent is summed up from its beginning on
  const isNarrow = filters.session_id !== undefined || filters.agent !== undefined
  return { ...filters, since: filters.since ?? (isNarrow ? '3650d' : '7d') }
}

/** The costliest runs. */
const byRun = async (args: ToolArguments, most: number, { storage, now }: ToolContext): Promise<Answer> => {
  const filters = filtersOf(args)
  return fitting(Math.min(most, 25), async (limit) => {
    const { rows, next_cursor } = await findRuns(storage, { ...filters, sort: 'cost', limit: String(limit) }, now)
    return {
      of: `the costliest runs since ${filters.since}`,
      total: costs(rows.reduce((sum, { cost_micro }) => sum + Number(cost_micro), 0)),
      groups: rows.filter((run) => !isOwn(run)).map((run) => ({ ...runView(run), duration_ms: msOf(run.duration_ns) })),
      left_out: 0,
      complete: next_cursor === null,
    }
  })
}

const queries: Readonly<Record<Exclude<Group, 'run'>, Readonly<Record<string, string>>>> = {
  model: { of: 'models', group: 'name' },
  tool: { of: 'tools', group: 'name' },
  command: { of: 'commands', group: 'name' },
  session: { of: 'runs', group: 'session' },
  agent: { of: 'runs', group: 'agent' },
  project: { of: 'runs', group: 'project' },
}

const seriesView = ({ group, totals }: Stats['series'][number]) => ({
  name: short(group) ?? 'unnamed',
  calls_or_runs: totals.count,
  errors: totals.errors,
  ...(totals.p50_ms === null ? {} : { p50_ms: totals.p50_ms, p95_ms: totals.p95_ms }),
  input_tokens: totals.input_tokens,
  cached_input_tokens: totals.cached_input_tokens,
  output_tokens: totals.output_tokens,
  ...costs(totals.cost_micro),
})

const byCost = (one: Stats['series'][number], other: Stats['series'][number]): number =>
  other.totals.cost_micro - one.totals.cost_micro || other.totals.count - one.totals.count

const byGroup = async (
  args: ToolArguments,
  by: Exclude<Group, 'run'>,
  most: number,
  { storage, now }: ToolContext,
): Promise<Answer> => {
  const filters = filtersOf(args)
  const query = statsQuery({ ...filters, ...queries[by], step: 'whole' }, now)
  const stats = await readStats(storage, query, now, LIMITS)
  const series = [...stats.series].sort(byCost)
  return fitting(most, async (limit) => ({
    of: `${stats.runs} runs since ${filters.since}`,
    total: costs(stats.totals.cost_micro),
    groups: series.slice(0, limit).map(seriesView),
    left_out: Math.max(0, series.length - limit),
    complete: stats.complete,
  }))
}

export const spend: ReadTool = {
  name: 'where_did_the_money_go',
  title: 'Where did the money go?',
  description:
    'Cost, tokens, calls, errors and durations, the costliest first: of one run by model, tool and command, or of many by model, tool, command, run, session, agent or project. Of the last 7 days unless a run, a session, an agent or since is given.',
  input: input({
    trace_id: text('Of this run alone; then by, and the filters, do not matter.'),
    by: choice(groups, 'What the sums are told apart by; model if absent.'),
    ...runFilters,
    limit: number(`Groups of one answer: 20 if absent, ${MOST} at most.`),
  }),
  output: output({
    of: text('What was summed up.'),
    total: { type: 'object', description: 'Cost of all of it.' },
    groups: list('The costliest first. cost_micro is in millionths of the billing currency.'),
    left_out: number('Groups that were left out.'),
    complete: {
      type: 'boolean',
      description: 'False: there are more runs than one answer reads, the newest were read.',
    },
  }),
  call(args, context) {
    const most = Math.max(1, args.count('limit', 20, MOST))
    const trace_id = args.text('trace_id')
    if (trace_id !== undefined) return ofRun(trace_id, most, context)
    const by = args.oneOf('by', groups, 'model')
    return by === 'run' ? byRun(args, most, context) : byGroup(args, by, most, context)
  },
}
