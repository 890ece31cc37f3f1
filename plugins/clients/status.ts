import { GuardError } from 'guard-gateway/core'
import { type BudgetLeft, byRemainingShare, remainingText } from '#lib/budget'
import type { AskJson, Command } from '#lib/command'
import { costText, countText, groupedText } from '#lib/format'
import { jsonObjectOf, listOf } from '#lib/json'
import { hint, type ListedSession, sessionLines } from '#lib/terminal'
import { terminalLine } from '#lib/text'
import type { ClientsOptions } from './options.ts'

const MAX_SESSION_ROWS = 10
const SESSION_LIMIT = 200
const MAX_OTHERS = 5

interface Listed {
  readonly sessions: readonly ListedSession[]
}

interface Listing {
  readonly policies: readonly { readonly project_id: string; readonly mode_in_force: string }[]
}

interface Budgeted {
  readonly budgets: readonly BudgetLeft[]
}

/** `guard status`: the newest sessions, but for those of the Playground, with their usage and decisions, the mode, and the tightest budget. */
export const status = ({ asking, calledAs }: ClientsOptions, now: () => number): Command => ({
  id: 'status',
  summary: 'sessions, spend, flags and blocks at a glance',
  example: ['guard status', 'guard status --json requests,cost_micro,paused', 'guard status --web'],
  paged: true,
  page: () => '/',
  async run(input, io) {
    const { options } = input

    const { sessions, budgets, policies, address, health } = await asking(async (ask, address) => ({
      ...((await ask('GET', `/api/sessions?playground=false&limit=${SESSION_LIMIT}`)) as Listed),
      budgets: await budgetsIn(ask),
      policies: await policiesIn(ask),
      health: await ask('GET', '/api/health'),
      address,
    }))
    const totals = totalsOf(sessions)
    if (options.json === true) {
      io.out.write(
        `${JSON.stringify({ ...totals, currency: currencyIn(health), mode: modeIn(policies), budgets, upstreams: upstreamsIn(health), sessions: sessions.slice(0, MAX_SESSION_ROWS) })}\n`,
      )
      return 0
    }
    for (const line of totalLines(totals, sessions.length, { health, budgets, policies })) io.out.write(`${line}\n`)
    for (const line of sessionLines(sessions.slice(0, MAX_SESSION_ROWS), now(), { input, io }))
      io.out.write(`${line}\n`)
    for (const line of pausedSessionLines(sessions, calledAs)) io.out.write(`${line}\n`)
    if (sessions.length === 0) hint(`No requests yet. Start an agent with: ${calledAs} run -- claude`, { options }, io)
    else if (address !== undefined) hint(`more: ${address}/sessions`, { options }, io)
    return 0
  },
})

/** The totals, upstreams that are not asked, the tightest budget. */
const totalLines = (
  totals: Totals,
  count: number,
  { health, budgets, policies }: Budgeted & Listing & { readonly health: unknown },
): readonly string[] => [
  headline(totals, count, currencyIn(health)),
  ...modeLine(policies),
  ...upstreamLines(health).map(terminalLine),
  ...budgets.slice(0, 1).map((tightest) => budgetLine(tightest, budgets.length)),
]

/** Budgets of projects and agents, the tightest first; empty if the gateway has no budgets API. */
const budgetsIn = async (ask: AskJson): Promise<readonly BudgetLeft[]> => {
  const answer = await ask('GET', '/api/budgets').catch((error: unknown) => {
    if (error instanceof GuardError && error.code === 'NOT_FOUND') return {}
    throw error
  })
  return byRemainingShare((answer as Partial<Budgeted>).budgets ?? [])
}

/** The policy of projects without one of their own, then those of projects; empty if the gateway judges nothing. */
const policiesIn = async (ask: AskJson): Promise<Listing['policies']> => {
  const answer = await ask('GET', '/api/policies?playground=false').catch((error: unknown) => {
    if (error instanceof GuardError && error.code === 'NOT_FOUND') return {}
    throw error
  })
  return (answer as Partial<Listing>).policies ?? []
}

const modeIn = ([first]: Listing['policies']): string | null => first?.mode_in_force ?? null

/** The mode of projects without a policy of their own, and of those that differ. */
const modeLine = ([first, ...own]: Listing['policies']): readonly string[] => {
  if (first === undefined) return []
  const others = own.filter(({ mode_in_force }) => mode_in_force !== first.mode_in_force)
  const but = others.slice(0, MAX_OTHERS).map(({ project_id, mode_in_force }) => `${project_id} ${mode_in_force}`)
  const more = others.length > MAX_OTHERS ? [`${others.length - MAX_OTHERS} more`] : []
  return [terminalLine(`mode ${[first.mode_in_force, ...but, ...more].join('; ')}`)]
}

const totalFields = ['requests', 'flagged', 'blocked', 'total_tokens', 'cost_micro'] as const
type Totals = Record<(typeof totalFields)[number] | 'paused', number>

const totalsOf = (sessions: Listed['sessions']): Totals => ({
  ...(Object.fromEntries(
    totalFields.map((name) => [name, sessions.reduce((total, session) => total + session[name], 0)]),
  ) as Totals),
  paused: sessions.filter(isPaused).length,
})

/** The upstreams as health tells of them. */
const upstreamsIn = (health: unknown): readonly unknown[] => listOf(jsonObjectOf(health).upstreams)

/** Currency of the prices; null without prices. */
const currencyIn = (health: unknown): string | null => {
  const { currency } = jsonObjectOf(jsonObjectOf(health).pricing)
  return typeof currency === 'string' ? currency : null
}

const headline = (totals: Totals, count: number, currency: string | null): string =>
  [
    `${count}${count === SESSION_LIMIT ? ' newest' : ''} ${count === 1 ? 'session' : 'sessions'}`,
    `${groupedText(totals.requests)} ${totals.requests === 1 ? 'request' : 'requests'}`,
    `${groupedText(totals.flagged)} flagged`,
    `${groupedText(totals.blocked)} blocked`,
    `${totals.paused} paused`,
    `${countText(totals.total_tokens)} tokens`,
    `cost ${costText(totals.cost_micro)}${currency === null ? '' : ` ${currency}`}`,
  ].join(', ')

const budgetLine = (budget: BudgetLeft, count: number): string => {
  const { scope, project_id, agent_id, resets_at } = budget
  const owner = scope === 'project' ? `project ${project_id}` : `${agentText(agent_id)} in project ${project_id}`
  const until = resets_at === null ? '' : `, until ${resets_at.slice(0, 16).replace('T', ' ')} UTC`
  const rank = count === 1 ? '' : `; the tightest of ${count} budgets`
  return terminalLine(`${remainingText(budget)}, ${owner}${until}${rank}`)
}

const agentText = (agent_id: string | null): string =>
  agent_id === null ? 'requests without an agent' : `agent ${agent_id}`

const MAX_SESSIONS = 5

const isPaused = ({ paused, ended_at = null }: ListedSession): boolean => paused && ended_at === null

/** Two lines for each paused session: the reason and the commands to use. */
const pausedSessionLines = (sessions: readonly ListedSession[], calledAs: string): readonly string[] => {
  const pausedSessions = sessions.filter(isPaused)
  const more = pausedSessions.length - MAX_SESSIONS
  return [
    ...pausedSessions
      .slice(0, MAX_SESSIONS)
      .flatMap(({ id, pause_reason }) => [
        `${id} waits for a person${pause_reason ? `: ${terminalLine(pause_reason)}` : ''}`,
        `  ${calledAs} sessions resume ${id}, or sessions end ${id}`,
      ]),
    ...(more > 0 ? [`and ${more} more: ${calledAs} sessions list --paused`] : []),
  ]
}

/** A line for each upstream that is not asked at the moment, or has keys at rest; of the answer of `/api/health`. */
export const upstreamLines = (health: unknown): readonly string[] =>
  listOf(jsonObjectOf(health).upstreams).map(jsonObjectOf).flatMap(lineOf)

const lineOf = ({ name, ready, circuit, failures, wait_seconds, keys }: ReturnType<typeof jsonObjectOf>): string[] => {
  const { count, resting } = jsonObjectOf(keys)
  const rest = typeof resting === 'number' && resting > 0 ? [`${resting} of ${count} keys rest`] : []
  const wait = `for another ${wait_seconds} s`
  if (circuit === 'open') return [`upstream ${name} is not asked ${wait}: it failed ${failures} times in a row`]
  if (circuit === 'half_open') return [`upstream ${name} failed ${failures} times in a row; the next request tries it`]
  if (ready === false) return [`upstream ${name} rests ${wait}: ${rest[0] ?? 'it refused a request'}`]
  return rest.map((text) => `upstream ${name}: ${text}`)
}
