import { type Call, type Decision, type Gateway, type Session, stages, undecided } from 'guard-gateway/core'
import type { Budgets } from '../budgets/budgets.ts'
import type { History } from '../history/history.ts'
import type { SessionHistories } from '../history/session-histories.ts'
import type { Policies } from '../policies.ts'
import type { Policy } from '../policy.ts'
import type { Shared } from '../shared/share.ts'
import type { KnownStarts } from '../starts/known-starts.ts'
import { countDecided, withdraw } from './decide.ts'
import { pauseSessionBy } from './pause.ts'

/** Taps that only watch what is decided, after it was counted. */
const WATCHERS: ReadonlySet<string> = new Set(['policy', 'recorder', 'metrics'])
const DECISIONS: ReadonlySet<unknown> = new Set(['allow', 'shadow_flag', 'block'])

/** Where requests were counted when their rules were evaluated. */
export interface Counters {
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
export class Recount {
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
