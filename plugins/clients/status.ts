import { GuardError } from 'guard-gateway/core'
import { type BudgetLeft, leftText, tightestFirst } from 'guard-gateway/lib/budget'
import type { AskJson, Command } from 'guard-gateway/lib/command'
import { costText, countText } from 'guard-gateway/lib/format'
import { shapeOf } from 'guard-gateway/lib/json'
import { hint, type ListedSession, sessionLines, terminalWidth } from 'guard-gateway/lib/terminal'
import { terminalLine } from 'guard-gateway/lib/text'
import type { ClientsOptions } from './options.ts'
import { isPaused, pausedSessionLines } from './paused-sessions.ts'

const SHOWN = 10
const LOOKED_AT = 200

interface Listed {
  readonly sessions: readonly ListedSession[]
}

interface Budgeted {
  readonly budgets: readonly BudgetLeft[]
}

/** `guard status`: what is going on, at a glance: the newest sessions with what they have spent and what was decided, and the budget of which the least is left. */
export const status = ({ asking, calledAs }: ClientsOptions): Command => ({
  id: 'status',
  summary: 'sessions, spend, flags and blocks at a glance',
  example: 'guard status --json',
  async run({ options }, io) {
    const { sessions, budgets, address, currency } = await asking(async (ask, address) => ({
      ...((await ask('GET', `/api/sessions?limit=${LOOKED_AT}`)) as Listed),
      budgets: await budgetsIn(ask),
      currency: currencyIn(await ask('GET', '/api/health')),
      address,
    }))
    const totals = totalsOf(sessions)
    if (options.json === true) {
      io.out.write(`${JSON.stringify({ ...totals, currency, budgets, sessions: sessions.slice(0, SHOWN) })}\n`)
      return 0
    }
    io.out.write(`${headline(totals, sessions.length, currency)}\n`)
    const [tightest] = budgets
    if (tightest !== undefined) io.out.write(`${budgetLine(tightest, budgets.length)}\n`)
    for (const line of sessionLines(sessions.slice(0, SHOWN), terminalWidth(io.out))) io.out.write(`${line}\n`)
    for (const line of pausedSessionLines(sessions, calledAs)) io.out.write(`${line}\n`)
    if (sessions.length === 0)
      hint(`Nothing was asked yet. Start an agent with: ${calledAs} run -- claude`, { options }, io)
    else if (address !== undefined) hint(`more: ${address}/sessions`, { options }, io)
    return 0
  },
})

/** Those beyond one session, the tightest first; a gateway that has no such list has none. */
const budgetsIn = async (ask: AskJson): Promise<readonly BudgetLeft[]> => {
  const answer = await ask('GET', '/api/budgets').catch((error: unknown) => {
    if (error instanceof GuardError && error.code === 'NOT_FOUND') return {}
    throw error
  })
  return tightestFirst((answer as Partial<Budgeted>).budgets ?? [])
}

const sums = ['requests', 'flagged', 'blocked', 'total_tokens', 'cost_micro'] as const
type Totals = Record<(typeof sums)[number] | 'paused', number>

const totalsOf = (sessions: Listed['sessions']): Totals => ({
  ...(Object.fromEntries(
    sums.map((name) => [name, sessions.reduce((total, session) => total + session[name], 0)]),
  ) as Totals),
  paused: sessions.filter(isPaused).length,
})

/** What costs are in: the currency of the prices in force; null where there are none. */
const currencyIn = (health: unknown): string | null => {
  const { currency } = shapeOf(shapeOf(health).pricing)
  return typeof currency === 'string' ? currency : null
}

const headline = (totals: Totals, count: number, currency: string | null): string =>
  [
    `${count}${count === LOOKED_AT ? ' newest' : ''} ${count === 1 ? 'session' : 'sessions'}`,
    `${totals.requests} ${totals.requests === 1 ? 'request' : 'requests'}`,
    `${totals.flagged} flagged`,
    `${totals.blocked} blocked`,
    `${totals.paused} paused`,
    `${countText(totals.total_tokens)} tokens`,
    `cost ${costText(totals.cost_micro)}${currency === null ? '' : ` ${currency}`}`,
  ].join(', ')

/** The budget of which the least is left: whose it is, how much, and until when. */
const budgetLine = (budget: BudgetLeft, count: number): string => {
  const { scope, project_id, agent_id, resets_at } = budget
  const who = scope === 'project' ? `project ${project_id}` : `${agentText(agent_id)} in project ${project_id}`
  const until = resets_at === null ? '' : `, until ${resets_at.slice(0, 16).replace('T', ' ')} UTC`
  const of = count === 1 ? '' : `; the tightest of ${count} budgets`
  return terminalLine(`${leftText(budget)}, ${who}${until}${of}`)
}

const agentText = (agent_id: string | null): string =>
  agent_id === null ? 'requests without an agent' : `agent ${agent_id}`
