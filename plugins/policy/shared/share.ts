import { setTimeout as delay } from 'node:timers/promises'
import { type Call, type Decision, type Gateway, GuardError, type Session, undecided } from 'guard-gateway/core'
import type { Cluster } from '#lib/session'
import type { Calendar } from '#lib/time'
import { unsettled } from '#lib/trace'
import { decide } from '../evaluate/decide.ts'
import type { History } from '../history/history.ts'
import type { SessionHistories } from '../history/session-histories.ts'
import type { Policies } from '../policies.ts'
import type { Policy } from '../policy.ts'
import type { KnownStarts } from '../starts/known-starts.ts'
import { SharedBudgets, type WindowKey } from './shared-budgets.ts'
import { SharedClaims } from './shared-claims.ts'

/** What judging needs that other processes share. */
export interface Sharing {
  readonly gateway: Gateway
  readonly cluster: Cluster
  readonly policies: Policies
  readonly histories: SessionHistories
  readonly starts: KnownStarts
  readonly calendar: Calendar
  readonly setMode: (call: Call, found: Policy) => void
  readonly mayPass: (call: Call) => boolean
}

/** How calls are judged where several processes judge them. */
export interface Shared {
  readonly judge: SharedJudge
  readonly claims: SharedClaims
  readonly budgets: SharedBudgets
  /** Counts a call again whose decision another plugin has changed since it was claimed: in memory by `count`, then on record. */
  recount(
    before: Decision,
    call: Call,
    session: Session,
    count: (history: History, found: Policy) => Decision,
  ): Promise<Decision>
}

/** Most open calls of a session that are read. */
const MOST_OPEN = 1_000

/** Has policies, histories and budgets read what other processes write, and provides the service `claims`. */
export const share = ({
  gateway,
  cluster,
  policies,
  histories,
  starts,
  calendar,
  setMode,
  mayPass,
}: Sharing): Shared => {
  const budgets = new SharedBudgets(gateway, calendar)
  const claims = new SharedClaims(gateway, cluster, histories, budgets)
  histories.open = {
    of: async (session_id) =>
      (await gateway.storage.find('open_calls', { where: { session_id }, limit: MOST_OPEN })).rows,
    own: (id) => claims.rowOf(id),
  }
  cluster.onChanged(() => policies.forget())
  gateway.service('claims').provide(claims)
  const sources = {
    totals: budgets.totals.bind(budgets),
    starts: starts.before.bind(starts),
  }
  const judgeFromMemory = async (before: Decision, call: Call, session: Session, found: Policy): Promise<Decision> => {
    await Promise.all([budgets.ready(found, call), starts.ready(found)])
    const history = histories.at(session) ?? (await histories.read(session, found.reach))
    return decide(before, call, session, history, found, gateway.fault, gateway.apiStyles, sources)
  }
  const judge = new SharedJudge({
    gateway,
    policies,
    budgets,
    claims,
    setMode,
    mayPass,
    judge: judgeFromMemory,
    decided: ({ decision, row }, call, session, found) => {
      if (decision !== 'block' && row !== null && !row.uncounted) starts.forwarded(found, call, row, session)
    },
  })
  const recount: Shared['recount'] = async (before, call, session, count) => {
    const found = await policies.load(call.project_id)
    return claims.alone(session, found.pers.length > 0, async () => {
      if (call.notes.recorded !== false) await claims.freshen(session)
      const history = histories.at(session) ?? (await histories.read(session, found.reach))
      const after = count(history, found)
      starts.turned(before, after, found, call, session)
      if (call.notes.recorded !== false)
        await claims.turned(
          before,
          unsettled(call, after, found.unseen ?? 'estimated', gateway.service('prices').get()),
          call.uncounted === 'warmup' ? [] : budgets.keys(found, call),
        )
      return after
    })
  }
  return { judge, claims, budgets, recount }
}

/** Others may decide about the same session or budget in between each time; a decision that took longer is given up. */
const GIVE_UP_MS = 8_000
/** Attempts that follow one another at once. */
const AT_ONCE = 3
const MOST_DELAY_MS = 20

/** What a shared decision is made of. */
interface SharedJudgeParts {
  readonly gateway: Gateway
  readonly policies: Policies
  readonly budgets: SharedBudgets
  readonly claims: SharedClaims
  /** Has the call judged by this policy. */
  readonly setMode: (call: Call, found: Policy) => void
  /** Decides from memory, once all evidence is there. */
  readonly judge: (before: Decision, call: Call, session: Session, found: Policy) => Promise<Decision>
  /** The decision is on record: counts it beyond its session. */
  readonly decided: (decision: Decision, call: Call, session: Session, found: Policy) => void
  /** The call may pass although nothing can be recorded. */
  readonly mayPass: (call: Call) => boolean
}

/** Decides about calls of sessions that other processes decide about too: from memory, and again if what it knew was old. */
class SharedJudge {
  readonly #parts: SharedJudgeParts

  constructor(parts: SharedJudgeParts) {
    this.#parts = parts
  }

  async decide(before: Decision, call: Call, session: Session): Promise<Decision> {
    const { policies, claims } = this.#parts
    const found = await policies.load(call.project_id)
    return claims.alone(session, found.pers.length > 0, () => this.#decide(before, call, session))
  }

  async #decide(before: Decision, call: Call, session: Session): Promise<Decision> {
    const { policies, budgets, claims, decided } = this.#parts
    const until = this.#parts.gateway.clock.tick() + GIVE_UP_MS
    for (let attempt = 0; attempt === 0 || this.#parts.gateway.clock.tick() < until; attempt++) {
      if (attempt >= AT_ONCE) await delay(Math.random() * Math.min(MOST_DELAY_MS, 2 ** (attempt - AT_ONCE)))
      if (call.notes.recorded !== false) await claims.freshen(session)
      const found = await policies.load(call.project_id)
      const keys = call.uncounted === 'warmup' ? [] : budgets.keys(found, call)
      const row = { ...session.row }
      const decision = await this.#judged(before, call, session, found)
      if (call.notes.recorded === false || (await this.#claim(decision, call, keys, found))) {
        decided(decision, call, session, found)
        return decision
      }
      session.row = row
      delete call.steered_body
      await claims.failed(session, keys, attempt >= AT_ONCE)
    }
    throw new GuardError(
      'STORAGE_BUSY',
      `Session ${session.row.id}, or a budget of its project, changed again and again while this request was decided about. Try again.`,
    )
  }

  async #judged(before: Decision, call: Call, session: Session, found: Policy): Promise<Decision> {
    const { gateway, setMode, judge } = this.#parts
    setMode(call, found)
    // a pause may have been made or taken back by another process since it was asked for
    const wasPaused = call.notes.paused !== undefined
    delete call.notes.paused
    const held = gateway.service('sessions').get()?.held
    const held_back = wasPaused ? undecided : before
    return judge(held === undefined ? held_back : await held(held_back, call), call, session, found)
  }

  /** True also where it cannot be recorded, and may pass all the same. */
  async #claim(
    decision: Decision,
    call: Call,
    keys: readonly WindowKey[],
    { unseen = 'estimated' }: Policy,
  ): Promise<boolean> {
    const { gateway, claims, mayPass } = this.#parts
    try {
      return await claims.claim(unsettled(call, decision, unseen, gateway.service('prices').get()), keys)
    } catch (error) {
      if (!(error instanceof GuardError) || !mayPass(call)) throw error
      gateway.fault(error, 'policy:claim')
      call.notes.recorded = false
      return true
    }
  }
}
