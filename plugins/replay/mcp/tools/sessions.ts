import { GuardError, type SessionRow } from 'guard-gateway/core'
import type { BudgetLeft } from '#lib/budget'
import { costText } from '#lib/format'
import { sees } from '#lib/principal'
import { short } from '../run-view.ts'
import { cursor, input, list, next_cursor, number, output, text, textOrNull } from '../schemas.ts'
import { fitting, type ReadTool, type ToolContext } from '../tool.ts'

const MOST = 25

const sessionView = (row: SessionRow) => ({
  session_id: row.id,
  name: short(row.name ?? row.external_id),
  project_id: row.project_id,
  agent_id: row.agent_id,
  client: short(row.client),
  state: row.ended_at != null ? 'ended' : row.paused ? 'paused' : 'open',
  pause_reason: short(row.pause_reason, 200),
  requests: row.requests,
  flagged: row.flagged,
  blocked: row.blocked,
  errors: row.errors,
  input_tokens: Math.max(0, row.total_tokens - row.output_tokens),
  cached_input_tokens: row.cache_read_tokens,
  output_tokens: row.output_tokens,
  cost_micro: row.cost_micro,
  cost: costText(row.cost_micro),
  last_seen_at: new Date(row.last_seen_at).toISOString(),
})

export const listSessions: ReadTool = {
  name: 'list_sessions',
  title: 'List sessions',
  description:
    'Sessions of agents, newest first: requests, flags, blocks, tokens, cost, and whether they are paused and why. Their runs: list_runs with session_id.',
  input: input({
    project_id: text('Of this project alone.'),
    agent_id: text('Of this agent alone.'),
    limit: number(`Sessions of one answer: 10 if absent, ${MOST} at most. Fewer come where they would not fit.`),
    cursor,
  }),
  output: output({ sessions: list('Newest first.'), next_cursor }),
  call(args, { storage }) {
    const [project_id, agent_id, from] = [args.text('project_id'), args.text('agent_id'), args.text('cursor')]
    const where = {
      ...(project_id === undefined ? {} : { project_id }),
      ...(agent_id === undefined ? {} : { agent_id }),
    }
    return fitting(Math.max(1, args.count('limit', 10, MOST)), async (limit) => {
      const page = await storage.find('sessions', { where, limit, ...(from === undefined ? {} : { cursor: from }) })
      return { sessions: page.rows.map(sessionView), next_cursor: page.next_cursor }
    })
  },
}

const budgetView = (budget: BudgetLeft) => ({
  rule_id: budget.rule_id,
  action: budget.action,
  scope: budget.scope,
  per: budget.per,
  project_id: budget.project_id,
  agent_id: budget.agent_id,
  session_id: budget.session_id,
  unit: budget.unit,
  currency: budget.currency,
  limit: budget.limit,
  used: budget.used,
  left: budget.left,
  resets_at: budget.resets_at,
})

const budgetsOf = async (
  { gateway, storage }: ToolContext,
  session_id: string | undefined,
  project_id: string,
): Promise<readonly BudgetLeft[]> => {
  const rules = gateway.service('rules').get()
  if (rules === undefined)
    throw new GuardError('MISSING_PLUGIN', 'This gateway has no plugin "policy", so there are no budgets.')
  if (session_id === undefined) return sees(project_id) ? rules.budgets({ project_id }) : []
  const row = await storage.get('sessions', session_id)
  if (row === undefined)
    throw new GuardError('INVALID_REQUEST', `There is no session "${session_id}". list_sessions gives their ids.`)
  return rules.budgets({ session: { row, open: 0, stored: true } })
}

export const budgetsLeft: ReadTool = {
  name: 'budgets_left',
  title: 'What is left of budgets',
  description:
    'What is left of each budget: of a session with those of its agent and its project, or of a project. A request over a budget with the action block is refused.',
  input: input({
    session_id: text('Of this session, as list_sessions names it.'),
    project_id: text('Of this project, where no session is given; default if absent.'),
  }),
  output: output({
    budgets: list('The least that is left first. Costs are in millionths of the billing currency.'),
    left_out: number('Budgets that do not fit into the answer.'),
    note: textOrNull('Where there is none.'),
  }),
  async call(args, context) {
    const found = await budgetsOf(context, args.text('session_id'), args.text('project_id') ?? 'default')
    const shareOf = ({ left, limit }: BudgetLeft): number => (limit === 0 ? 0 : left / limit)
    const budgets = [...found].sort((one, other) => shareOf(one) - shareOf(other))
    return fitting(MOST * 2, async (limit) => ({
      budgets: budgets.slice(0, limit).map(budgetView),
      left_out: Math.max(0, budgets.length - limit),
      note: budgets.length === 0 ? 'No rule of this project limits requests, tokens or cost.' : null,
    }))
  },
}
