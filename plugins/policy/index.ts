import {
  type Call,
  type Decision,
  type Gateway,
  type Mode,
  type Plugin,
  type Rule,
  type Session,
  type Settled,
  stages,
  undecided,
} from 'guard-gateway/core'
import { MemoryBudget } from '#lib/memory-budget'
import { Calendar } from '#lib/time'
import { Budgets } from './budgets/budgets.ts'
import type { RemainingContext } from './budgets/remaining.ts'
import { readRuleList } from './document/document.ts'
import { countDecided, decide, withdraw } from './evaluate/decide.ts'
import type { EvidenceSources } from './evaluate/evidence-sources.ts'
import { pauseSessionBy } from './evaluate/pause.ts'
import type { History } from './history/history.ts'
import { SessionHistories } from './history/session-histories.ts'
import { settle } from './history/settle.ts'
import { Policies } from './policies.ts'
import type { Policy } from './policy.ts'
import { budgetWindowTable } from './shared/budget-windows.ts'
import type { Shared } from './shared/share.ts'
import { KnownStarts } from './starts/known-starts.ts'
import { tables } from './tables.ts'

export type { PolicyCommandOptions } from './commands/command-context.ts'
export { policyCommands } from './commands/index.ts'
export { defaultEnforced, presetNamed } from './document/default-enforced.ts'
export { extendedRules } from './document/extends.ts'

/** Rules that come with the gateway, each list as a policy document has it. */
export interface RuleLists {
  /** Rules of projects without a policy of their own; one for each registered detector if absent. */
  readonly defaults?: unknown
  /** Lists of rules that a policy can be set to by name. */
  readonly presets?: Readonly<Record<string, unknown>>
}

export interface PolicyOptions extends RuleLists {
  /** Mode where neither the request nor the project's policy says one; read for every request, so that it may change. */
  readonly default_mode?: Mode
  /** Bytes of the memory budget that the histories of all sessions may take, about; all of it if absent. The one used longest ago is read again when it is needed. */
  readonly history_bytes?: number
  /** Where hours, days, weeks and months of budgets start, as `Europe/Berlin`; the system's zone if empty or absent. Throws RangeError for one that is not known. */
  readonly time_zone?: string
  /** Gives lists of rules when the gateway opens, for example from files; they go before those given here. */
  readonly load?: () => Promise<RuleLists>
}

/** Judges requests: the rules of a project's policy, evaluated by the registered detectors over the session's history. */
export const policy = (options: PolicyOptions = {}): Plugin => ({
  name: 'policy',
  requires: ['sessions'],
  apply(gateway) {
    for (const table of [...tables, budgetWindowTable]) gateway.tables.add(table)
    const policies = new Policies(gateway)
    const presets: Record<string, readonly Rule[]> = {}
    gateway.hooks.open.tapPromise('policy', async () => {
      const lists = { ...options, ...(await options.load?.()) }
      await policies.open(lists.defaults)
      for (const [name, rules] of Object.entries(lists.presets ?? {})) {
        presets[name] = await readRuleList(rules, gateway.detectors)
      }
    })
    const default_mode = () => options.default_mode ?? 'shadow'
    const left = judge(gateway, policies, options)
    gateway.service('rules').provide({
      of: async (project) => {
        const { mode, rules } = await policies.load(project)
        return { mode: mode ?? default_mode(), rules }
      },
      unseen: (project) => policies.at(project)?.unseen,
      budgets: async (of) => {
        const { remainingOfProject, remainingOfSession } = await import('./budgets/remaining.ts')
        return 'session' in of ? remainingOfSession(left, of.session) : remainingOfProject(left, of.project_id)
      },
    })
    gateway.hooks.http.tapPromise('policy', async (app) => {
      const { routes } = await import('./routes.ts')
      await app.register(routes(policies, { gateway, presets, default_mode }), { prefix: '/api' })
      const { budgetRoutes } = await import('./budgets/routes.ts')
      await app.register(budgetRoutes(left), { prefix: '/api' })
      const { simulationRoutes } = await import('./simulate/routes.ts')
      await app.register(simulationRoutes(gateway, policies, presets, default_mode, left.budgets.calendar), {
        prefix: '/api',
      })
      const { addPages } = await import('./page/index.ts')
      addPages({ gateway, policies, presets, left, default_mode })
    })
  },
})

const judge = (gateway: Gateway, policies: Policies, options: PolicyOptions): RemainingContext => {
  const budgets = new Budgets(gateway, new Calendar(options.time_zone || undefined))
  const starts = new KnownStarts(gateway)
  const sources: EvidenceSources = {
    totals: (period, call) => budgets.totals(period, call),
    starts: (detector, call, row, session) => starts.before(detector, call, row, session),
  }
  const budget = gateway.service('memory_budget').getOrProvide(() => new MemoryBudget())
  const histories = new SessionHistories(gateway, budget, options.history_bytes)
  gateway.health.set('policy', () => ({ history_bytes: histories.bytes }))

  const setMode = (call: Call, found: Policy): void => {
    call.mode = call.mode_override ?? found.mode ?? options.default_mode ?? 'shadow'
  }
  const mayPass = (call: Call): boolean =>
    gateway.service('store').need().onFailure === 'forward' && call.mode === 'shadow'

  let shared: Shared | undefined
  gateway.hooks.open.tapPromise('policy', async () => {
    const cluster = gateway.service('cluster').get()
    if (cluster === undefined) return
    const { calendar } = budgets
    const { share } = await import('./shared/share.ts')
    shared = share({ gateway, cluster, policies, histories, starts, calendar, setMode, mayPass })
  })
  const recount = new Recount({ gateway, policies, histories, budgets, starts, shared: () => shared })
  // both return at once if nothing must be read: each promise on the hot path costs
  gateway.hooks.request.tapPromise({ name: 'policy', stage: stages.request.policy }, (call) => {
    const found = policies.at(call.project_id)
    return found === undefined
      ? policies.load(call.project_id).then((read) => setMode(call, read))
      : setMode(call, found)
  })

  gateway.hooks.decision.tapPromise('policy', (decision, call) => {
    const { session } = call
    if (session === null) return decision
    if (shared !== undefined)
      return shared.judge.decide(decision, call, session).then((judged) => recount.counted(judged, call))
    const found = policies.at(call.project_id)
    const history = histories.at(session)
    if (found === undefined || history === undefined) return judgedLater(decision, call, session)
    const waiting = reading(found, call)
    return waiting === undefined
      ? judged(decision, call, session, history, found)
      : judgedLater(decision, call, session, waiting)
  })

  /** Undefined if all evidence from beyond the session is in memory; else it is being read. */
  const reading = (found: Policy, call: Call): Promise<unknown> | undefined =>
    budgets.ready(found, call.at) ?? starts.ready(found)

  const judgedLater = async (
    decision: Decision,
    call: Call,
    session: Session,
    begun?: Promise<unknown>,
  ): Promise<Decision> => {
    const found = await policies.load(call.project_id)
    for (let waiting = begun; ; ) {
      const isKnown = await readOr(waiting, () => mayPass(call), gateway.fault)
      const history = histories.at(session) ?? (await histories.read(session, found.reach))
      waiting = isKnown ? reading(found, call) : undefined
      if (waiting === undefined) return judged(decision, call, session, history, found)
    }
  }

  /** Decides and counts in one synchronous step. */
  const judged = (before: Decision, call: Call, session: Session, history: History, found: Policy): Decision => {
    if (session.open <= 1) budgets.release(session)
    const decision = decide(before, call, session, history, found, gateway.fault, gateway.apiStyles, sources)
    if (decision.decision !== 'block' && decision.row !== null && !decision.row.uncounted) {
      budgets.forwarded(call, session, decision.row)
      starts.forwarded(found, call, decision.row, session)
    }
    return recount.counted(decision, call)
  }

  const ended = (settled: Settled): void => {
    const { call, decision } = settled
    if (call.session === null || decision.row === null) return
    if (decision.repeats === null) {
      budgets.settled(settled, call.session, decision.row)
      if (decision.decision !== 'block' && !decision.row.uncounted) starts.ended(settled, call.session)
    }
    const history = histories.at(call.session)
    shared?.claims.ending(call, call.session, history !== undefined)
    if (history === undefined) return
    settle(settled, decision.row, call.session.row, history, policies.at(call.project_id)?.priced)
    histories.used(call.session, history)
  }
  gateway.hooks.settle.tapPromise('policy', (settled) => budgets.gate.enter(() => ended(settled)))

  // after the recorder, which stores all turns; a style that continues replies by id needs them for later requests
  gateway.hooks.settle.tap({ name: 'policy', stage: stages.settle.evict }, ({ call, decision: { row } }) => {
    budgets.gate.leave()
    if (call.session === null || row?.root !== true || gateway.apiStyles.get(call.style)?.continues === true) return
    const history = histories.at(call.session)
    if (history === undefined) return
    history.prune(row)
    histories.used(call.session, history)
  })
  gateway.hooks.forget.tapPromise('policy', async (trace_ids) => {
    if (gateway.tables.get('calls') === undefined || !(budgets.isQueried || (await policies.anyPeriod()))) return
    const { rollUp } = await import('./budgets/rollups.ts')
    await rollUp(gateway, budgets.gate, trace_ids)
  })

  const historyOf = async (session: Session, found: Policy): Promise<History> =>
    histories.at(session) ?? histories.read(session, found.reach)
  return { gateway, policies, budgets, historyOf, shared: () => shared }
}

/** Waits for evidence. False: it cannot be read, and the request may pass without the rules that need it. */
const readOr = async (
  waiting: Promise<unknown> | undefined,
  mayPass: () => boolean,
  fault: Gateway['fault'],
): Promise<boolean> => {
  try {
    await waiting
    return true
  } catch (error) {
    if (!mayPass()) throw error
    fault(error, 'policy:beyond')
    return false
  }
}

/** Taps that only watch what is decided, after it was counted. */
const WATCHERS: ReadonlySet<string> = new Set(['policy', 'recorder', 'metrics'])
const DECISIONS: ReadonlySet<unknown> = new Set(['allow', 'shadow_flag', 'block'])

/** Where requests were counted when their rules were evaluated. */
interface Counters {
  readonly gateway: Gateway
  readonly policies: Policies
  readonly histories: SessionHistories
  readonly budgets: Budgets
  readonly starts: KnownStarts
  readonly shared: () => Shared | undefined
}

/**
 * Requests are counted in the step that evaluates their rules, so that those which come at once see one another. Where a plugin changes
 * the decision after that, this counts them again as what was decided at last; then a block pauses its session, where its rule says so.
 */
class Recount {
  readonly #counters: Counters
  /** What each request was counted as; requests without a session are in no count. */
  readonly #counted = new WeakMap<Call, Decision>()

  constructor(counters: Counters) {
    this.#counters = counters
    const { decision } = counters.gateway.hooks
    const { count } = stages.decision
    const register = <T extends { name: string; stage?: number }>(tap: T): T =>
      (tap.stage ?? 0) < count || WATCHERS.has(tap.name) ? tap : { ...tap, stage: count - 1 }
    decision.intercept({ register })
    decision.tapPromise({ name: 'policy', stage: count }, (decided, call) => this.#final(decided, call))
  }

  /** Notes what a request was counted as. */
  counted(decision: Decision, call: Call): Decision {
    this.#counted.set(call, decision)
    return decision
  }

  #final(decided: Decision, call: Call): Decision | Promise<Decision> {
    const { session } = call
    const before = this.#counted.get(call)
    if (before === undefined || session === null) return checked(decided)
    this.#counted.delete(call)
    if (decided === before) return this.#paused(decided, session)
    const final = completed(checked(decided), before)
    if (isCountedAs(before, final)) return this.#paused(final, session)
    const counted = this.#again(before, { ...final, repeats: null }, call, session)
    return counted instanceof Promise
      ? counted.then((one) => this.#paused(one, session))
      : this.#paused(counted, session)
  }

  #again(before: Decision, final: Decision, call: Call, session: Session): Decision | Promise<Decision> {
    const { policies, histories, shared } = this.#counters
    const sharing = shared()
    if (sharing !== undefined)
      return sharing.recount(before, call, session, (history, found) =>
        this.#recounted(before, final, call, session, history, found),
      )
    const found = policies.at(call.project_id)
    const history = histories.at(session)
    if (found !== undefined && history !== undefined)
      return this.#inWindows(
        before,
        this.#recounted(before, final, call, session, history, found),
        call,
        session,
        found,
      )
    return this.#later(before, final, call, session)
  }

  async #later(before: Decision, final: Decision, call: Call, session: Session): Promise<Decision> {
    const { policies, histories } = this.#counters
    const found = await policies.load(call.project_id)
    const history = histories.at(session) ?? (await histories.read(session, found.reach))
    const counted = this.#recounted(before, final, call, session, history, found)
    return this.#inWindows(before, counted, call, session, found)
  }

  /** The session and its history. */
  #recounted(
    before: Decision,
    final: Decision,
    call: Call,
    session: Session,
    history: History,
    found: Policy,
  ): Decision {
    withdraw(before, call, session, history)
    const measures = before.row?.measures ?? {}
    return countDecided(final, measures, call, session, history, found, this.#counters.gateway.fault)
  }

  /** The windows of budgets, and the starts. */
  #inWindows(before: Decision, after: Decision, call: Call, session: Session, found: Policy): Decision {
    const { budgets, starts } = this.#counters
    if (call.uncounted !== undefined) return after
    if (before.decision !== 'block' && before.row !== null) budgets.withdrawn(session, before.row)
    if (after.decision !== 'block' && after.row !== null) budgets.forwarded(call, session, after.row)
    starts.turned(before, after, found, call, session)
    return after
  }

  #paused(decision: Decision, session: Session): Decision | Promise<Decision> {
    return decision.pause_reason === undefined ? decision : pauseSessionBy(this.#counters.gateway, decision, session)
  }
}

const isCountedAs = (before: Decision, after: Decision): boolean =>
  before.decision === after.decision && before.reason === after.reason && before.rule_id === after.rule_id

/** Throws TypeError for a decision that there is not: what is misspelled must not let a request pass. */
const checked = (decision: Decision): Decision => {
  if (DECISIONS.has(decision.decision)) return decision
  throw new TypeError(
    `A plugin has decided ${JSON.stringify(decision.decision)}; a decision is allow, shadow_flag or block.`,
  )
}

/** A decision with what a plugin has left out, and without what belongs to a block that it has lifted. */
const completed = (decision: Decision, before: Decision): Decision => {
  const { row, repeats, policy_version } = before
  const { pause_reason, status, ...rest } = { ...undecided, ...decision, row, repeats, policy_version }
  if (rest.decision !== 'block') return rest
  return {
    ...rest,
    ...(status === undefined ? {} : { status }),
    ...(pause_reason === undefined ? {} : { pause_reason }),
  }
}
