import type { Call, Decision, Gateway, Session } from 'guard-gateway/core'
import type { Cluster } from 'guard-gateway/lib/session'
import type { Calendar } from 'guard-gateway/lib/time'
import { unsettled } from 'guard-gateway/lib/trace'
import { decide } from '../evaluate/decide.ts'
import type { History } from '../history/history.ts'
import type { SessionHistories } from '../history/session-histories.ts'
import type { Policies } from '../policies.ts'
import type { Policy } from '../policy.ts'
import type { KnownStarts } from '../starts/known-starts.ts'
import { SharedBudgets } from './shared-budgets.ts'
import { SharedClaims } from './shared-claims.ts'
import { SharedJudge } from './shared-judge.ts'

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
