import { failureTags } from 'guard-gateway/core'
import { sorts } from '../../api/filters.ts'
import { findRuns } from '../../api/find-runs.ts'
import type { RunRow } from '../../tables.ts'
import { isOwn, runList, runView } from '../run-view.ts'
import { choice, cursor, input, next_cursor, number, output, runFilters, text } from '../schemas.ts'
import { type Answer, fitting, type ReadTool, type ToolContext } from '../tool.ts'
import type { ToolArguments } from '../tool-arguments.ts'

const MOST = 25

type Filters = Readonly<Record<string, string | undefined>>

const found = (filters: Filters, context: ToolContext, most: number): Promise<Answer> =>
  fitting(most, async (limit) => {
    const { rows, next_cursor, complete } = await foundRows(filters, context, limit)
    return { runs: rows.map(runView), next_cursor, complete }
  })

/** Pages that are read for one answer where nearly all runs are questions to Replay. */
const MOST_PAGES = 10

/** So many runs that are no questions to Replay, and the cursor after them. */
const foundRows = async (filters: Filters, { storage, now }: ToolContext, limit: number) => {
  const rows: RunRow[] = []
  let cursor: string | null | undefined = filters.cursor
  for (let pages = 0; ; pages++) {
    const query = { ...filters, cursor: cursor ?? undefined, limit: String(limit - rows.length) }
    const page = await findRuns(storage, query, now)
    rows.push(...page.rows.filter((run) => !isOwn(run)))
    cursor = page.next_cursor
    if (cursor === null || rows.length >= limit || page.truncated || pages >= MOST_PAGES)
      return { rows, next_cursor: cursor, complete: cursor === null || rows.length >= limit }
  }
}

const filtersOf = (args: ToolArguments) => ({
  project_id: args.text('project_id'),
  session_id: args.text('session_id'),
  agent: args.text('agent'),
  since: args.text('since'),
  cursor: args.text('cursor'),
})

const limit = number(`Runs of one answer: 10 if absent, ${MOST} at most. Fewer come where they would not fit.`)
const answer = output({
  runs: runList('Newest first, unless sorted otherwise.'),
  next_cursor,
  complete: { type: 'boolean', description: 'False: more may match than were looked at; go on with next_cursor.' },
})

export const listRuns: ReadTool = {
  name: 'list_runs',
  title: 'List runs',
  description:
    'Runs of agents on record, newest first. Filter by project, session, agent, model, tool, status or failure. Then call get_run or why_failed with a trace_id.',
  input: input({
    ...runFilters,
    model: text('With requests to this model.'),
    tool: text('With calls of this tool.'),
    status: text('One or more of ok, error, running, cancelled, timeout, blocked, separated by commas.'),
    failure: text(`any, none, or some of ${failureTags.join(', ')}, separated by commas.`),
    sort: choice(sorts, 'The greatest first; recorded if absent.'),
    limit,
    cursor,
  }),
  output: answer,
  call: (args, context) =>
    found(
      {
        ...filtersOf(args),
        model: args.text('model'),
        tool: args.text('tool'),
        status: args.text('status'),
        failure_tag: args.text('failure'),
        sort: args.text('sort'),
      },
      context,
      Math.max(1, args.count('limit', 10, MOST)),
    ),
}

export const searchRuns: ReadTool = {
  name: 'search_runs',
  title: 'Search runs',
  description:
    'Runs that hold all of these words: in names, tools, models, tags, status messages and attributes. abc* finds words that begin so.',
  input: input({ words: text('What to look for; all words must be there.'), ...runFilters, limit, cursor }, ['words']),
  output: answer,
  call: (args, context) =>
    found(
      { ...filtersOf(args), q: args.needText('words', 'some words') },
      context,
      Math.max(1, args.count('limit', 10, MOST)),
    ),
}
