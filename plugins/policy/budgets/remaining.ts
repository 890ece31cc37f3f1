import type { Gateway, Session, Totals } from 'guard-gateway/core'
import type { BudgetLeft } from '#lib/budget'
import { costUnit } from '#lib/html'
import { totalsOf } from '../evaluate/evaluate.ts'
import type { History } from '../history/history.ts'
import type { Policies } from '../policies.ts'
import type { ActiveRule, Policy } from '../policy.ts'
import type { Shared } from '../shared/share.ts'
import type { Budgets } from './budgets.ts'

/** The most agents of one project and rule in a list. */
const MAX_AGENTS = 50

/** What knowing what is left needs. */
export interface RemainingContext {
  readonly gateway: Gateway
  readonly policies: Policies
  readonly budgets: Budgets
  /** Where several processes count: what they all have used. */
  readonly shared: () => Shared | undefined
  /** What is remembered of a session. */
  readonly historyOf: (session: Session, policy: Policy) => Promise<History>
}

/** What is left of the budgets of a session: its own, and those of its agent and its project. */
export const remainingOfSession = async (parts: RemainingContext, session: Session): Promise<readonly BudgetLeft[]> => {
  const { project_id, agent_id } = session.row
  const policy = await parts.policies.load(project_id)
  const active = policy.active.filter(isBudget)
  if (active.length === 0) return []
  const at = await known(parts, policy)
  const history = active.some(({ period }) => period === undefined) ? await parts.historyOf(session, policy) : undefined
  return Promise.all(
    active.map((rule) =>
      rule.period === undefined
        ? ofSession(parts, rule, session, history)
        : ofPeriod(parts, rule, { project_id, agent_id, at }),
    ),
  )
}

/** What is left of the budgets of a project and of its agents that have used something, or of one of them. */
export const remainingOfProject = async (
  parts: RemainingContext,
  project_id: string,
  agent_id?: string,
): Promise<readonly BudgetLeft[]> => {
  const policy = await parts.policies.load(project_id)
  const active = policy.active.filter((rule) => isBudget(rule) && rule.period !== undefined)
  if (active.length === 0) return []
  const at = await known(parts, policy)
  const left = active.map(async (rule) => {
    const agents = await agentsOf(parts, rule, project_id, at, agent_id)
    return Promise.all(agents.map((agent) => ofPeriod(parts, rule, { project_id, agent_id: agent, at })))
  })
  return (await Promise.all(left)).flat()
}

const isBudget = ({ detector }: ActiveRule): boolean => detector.kind === 'budget' && detector.used !== undefined

/** Now, once what the rules need of it is known. */
const known = async ({ gateway, budgets, shared }: RemainingContext, policy: Policy): Promise<number> => {
  for (;;) {
    const at = gateway.clock.now()
    if (shared() !== undefined) return at
    const reading = budgets.ready(policy, at)
    if (reading === undefined) return at
    await reading
  }
}

/** Whose budgets a rule gives: one of the project, or one of each agent. */
const agentsOf = async (
  { budgets, shared }: RemainingContext,
  { period }: ActiveRule,
  project_id: string,
  at: number,
  agent_id: string | undefined,
): Promise<readonly (string | null)[]> => {
  if (period?.scope !== 'agent') return [null]
  if (agent_id !== undefined) return [agent_id]
  const all = await shared()?.budgets.agents(period.per, project_id, at)
  if (all !== undefined) return all.slice(0, MAX_AGENTS)
  return budgets.window(period.per, at)?.agents(project_id).slice(0, MAX_AGENTS) ?? []
}

const ofPeriod = async (
  { gateway, budgets, shared }: RemainingContext,
  active: ActiveRule,
  of: { readonly project_id: string; readonly agent_id: string | null; readonly at: number },
): Promise<BudgetLeft> => {
  const { period } = active
  if (period === undefined) throw new TypeError(`the rule "${active.rule.id}" has no period`)
  const totals = (await shared()?.budgets.current(period, of)) ?? budgets.totals(period, of)
  const resets = totals.period?.resets_at
  return {
    ...budgetLeft(gateway, active, of.project_id, totals),
    scope: period.scope,
    per: period.per,
    agent_id: period.scope === 'agent' ? of.agent_id : null,
    resets_at: resets === undefined ? null : new Date(resets).toISOString(),
    time_zone: budgets.calendar.zone,
  }
}

const ofSession = (
  { gateway }: RemainingContext,
  active: ActiveRule,
  session: Session,
  history: History | undefined,
): BudgetLeft => {
  const { row } = session
  const own = history === undefined ? [] : totalsIn(active, session, history)
  const all = own.map((totals) => budgetLeft(gateway, active, row.project_id, totals))
  const [most] = all.sort((one, other) => other.used - one.used)
  return {
    ...(most ?? budgetLeft(gateway, active, row.project_id, undefined)),
    scope: active.narrow ? 'thread' : 'session',
    agent_id: row.agent_id,
    session_id: row.id,
  }
}

/** What the session has used, or each of its conversations. */
const totalsIn = ({ narrow }: ActiveRule, session: Session, history: History): readonly Totals[] => {
  const whole = totalsOf(session, history)
  return narrow ? history.used().map((used) => ({ ...whole, ...used })) : [whole]
}

const budgetLeft = (
  gateway: Gateway,
  { rule, detector }: ActiveRule,
  project_id: string,
  totals: Totals | undefined,
): BudgetLeft => {
  const used = totals === undefined ? 0 : (detector.used?.({ rule, session: totals }) ?? 0)
  const isCost = detector.needs === 'prices'
  const unit = costUnit(gateway)
  return {
    rule_id: rule.id,
    rule_type: rule.rule_type,
    action: rule.action,
    project_id,
    scope: 'session',
    per: null,
    agent_id: null,
    session_id: null,
    unit: isCost ? 'cost_micro' : (detector.unit ?? rule.rule_type),
    currency: isCost && unit !== 'cost' ? unit : null,
    limit: rule.threshold,
    used,
    left: Math.max(0, rule.threshold - used),
    resets_at: null,
    time_zone: null,
  }
}
