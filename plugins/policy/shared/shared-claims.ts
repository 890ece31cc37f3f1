import type {
  Addends,
  Call,
  Change,
  Decision,
  Gateway,
  Row,
  Session,
  SessionRow,
  Settled,
  Tables,
} from 'guard-gateway/core'
import { KeyedQueue } from '#lib/keyed-queue'
import { type Claims, type Cluster, isCounting, type OpenClaim, requestsIn } from '#lib/session'
import type { SessionHistories } from '../history/session-histories.ts'
import { hasFailed, isUnpriced } from '../history/settle.ts'
import type { Usage } from '../history/usage.ts'
import { claimChanges, turnChanges } from './claim-changes.ts'
import type { SharedBudgets, WindowKey } from './shared-budgets.ts'

/** What this process knows of a session that others change too. */
interface State {
  /** Another process has changed it, or may have. */
  stale: boolean
  /** Changes with each read. */
  epoch: number
}

/** A claimed call that has not ended. */
export interface Claimed {
  readonly row: Row
  readonly session: Session
  readonly keys: readonly WindowKey[]
  /** Of the session, when its memory counted the end of the call. */
  epoch: number
}

type Write = (changes: readonly Change[]) => Promise<boolean>

/**
 * Compare and set of sessions and budgets that several processes use. A row counts its changes in `version`; a claim fails unless it has
 * the version that this process decided on. Work on one session, and on the budgets of one project, runs one after another in a process.
 */
export class SharedClaims implements Claims {
  readonly #gateway: Gateway
  readonly #cluster: Cluster
  readonly #histories: SessionHistories
  readonly #budgets: SharedBudgets
  readonly #queue = new KeyedQueue()
  readonly #states = new WeakMap<Session, State>()
  readonly #claimed = new Map<string, Claimed>()

  constructor(gateway: Gateway, cluster: Cluster, histories: SessionHistories, budgets: SharedBudgets) {
    this.#gateway = gateway
    this.#cluster = cluster
    this.#histories = histories
    this.#budgets = budgets
  }

  /** Runs work while nothing else of this process changes the session, or budgets of its project if `counted`. */
  alone<T>({ row }: Session, isCounted: boolean, work: () => Promise<T>): Promise<T> {
    return this.#queue.runAll([`session ${row.id}`, ...(isCounted ? [`project ${row.project_id}`] : [])], work)
  }

  /** The row of a call that this process has claimed. */
  rowOf(id: string): Row | undefined {
    return this.#claimed.get(id)?.row
  }

  /** Reads the session again if another process may have changed it. Call it alone. */
  async freshen(session: Session): Promise<void> {
    const state = this.#state(session)
    if (!state.stale) return
    const stored = await this.#gateway.storage.get('sessions', session.row.id)
    session.stored = stored !== undefined
    if (stored !== undefined) session.row = stored
    this.#histories.drop(session)
    state.epoch++
    state.stale = false
  }

  /** Writes a decision if nothing has changed that it rests on; false: it has, and has to be read again. Call it alone. */
  async claim(settled: Settled, keys: readonly WindowKey[]): Promise<boolean> {
    const { call, decision } = settled
    const { session } = call
    const { row } = decision
    if (session === null || row === null) throw new TypeError('only a call of a session is claimed')
    const isOpen = decision.decision !== 'block'
    const batch = [
      this.#cluster.unchanged,
      ...(isOpen ? this.#budgets.claim(keys, row) : []),
      ...claimChanges(this.#gateway, this.#cluster.instance, settled, session, isOpen ? keys : NO_KEYS),
    ]
    const version = (session.row.version ?? 0) + 1
    if (!(await this.#sure(session, keys, () => this.#gateway.storage.write(batch)))) return false
    session.stored = true
    session.row.version = version
    if (isOpen) this.#budgets.claimed(keys, row)
    if (decision.repeats === null)
      this.#claimed.set(call.id, { row, session, keys: isOpen ? keys : NO_KEYS, epoch: this.#state(session).epoch })
    return true
  }

  /** Corrects what `claim` wrote of a call whose decision another plugin has changed; memory has counted it already. `keys`: of its budgets. Call it alone. */
  async turned(before: Decision, settled: Settled, keys: readonly WindowKey[]): Promise<void> {
    const { call, decision } = settled
    const { session } = call
    if (session === null || decision.row === null || before.row === null) return
    const was = this.#claimed.get(call.id)?.keys ?? NO_KEYS
    const now = decision.decision === 'block' ? NO_KEYS : before.decision === 'block' ? keys : was
    const [sign, reserved] = now.length > 0 ? [1, decision.row.reserved] : [-1, before.row.reserved]
    const counted = was === now ? NO_KEYS : [...was, ...now]
    const used = { requests: sign, reserved: sign * reserved }
    const batch = [
      ...this.#budgets.settle(counted, used),
      ...turnChanges(this.#gateway, this.#cluster.instance, before, settled, session, now),
    ]
    await this.#sure(session, counted, () => this.#gateway.storage.write(batch))
    this.#budgets.settled(counted, used)
    session.row.version = (session.row.version ?? 0) + 1
    this.#claimed.delete(call.id)
    if (decision.repeats === null)
      this.#claimed.set(call.id, { row: decision.row, session, keys: now, epoch: this.#state(session).epoch })
  }

  /**
   * A claim has failed. `isLate`: it has again and again. Whoever claimed last knows the rows and need not read them, so it would win
   * each time: what others know of the rows is made old, so that they have to read as well.
   */
  async failed(session: Session, keys: readonly WindowKey[], isLate: boolean): Promise<void> {
    this.#state(session).stale = true
    if (isLate && keys.length > 0) await this.#gateway.storage.write(this.#budgets.settle(keys, {}))
    this.#budgets.stale(keys)
    await this.#cluster.refresh()
  }

  /** The memory of the session counts the end of a call from now on; false for `isCounted`: it does not, and has to be read again. */
  ending({ id }: Pick<Call, 'id'>, session: Session, isCounted: boolean): void {
    const state = this.#state(session)
    if (!isCounted) state.stale = true
    const claimed = this.#claimed.get(id)
    if (claimed !== undefined) claimed.epoch = state.epoch
  }

  settle(settled: Settled, write: Write): Promise<boolean> {
    const { call } = settled
    const { session } = call
    if (session === null) return write([])
    const claimed = this.#claimed.get(call.id)
    const keys = claimed?.keys ?? NO_KEYS
    const used: Partial<Usage> = { ...usageOf(settled), requests: 0, reserved: -(claimed?.row.reserved ?? 0) }
    return this.alone(session, keys.length > 0, async () => {
      const changes = settleChanges(settled, session, claimed !== undefined)
      const written = await this.#sure(session, keys, () => write([...this.#budgets.settle(keys, used), ...changes]))
      if (!written) return false
      this.#claimed.delete(call.id)
      this.#budgets.settled(keys, used)
      this.#counted(session, claimed?.epoch)
      return true
    })
  }

  change(session: Session, write: Write): Promise<boolean> {
    const { epoch } = this.#state(session)
    return this.alone(session, false, async () => {
      const written = await write([{ table: 'sessions', key: session.row.id, add: { version: 1 } }])
      if (written) this.#counted(session, epoch)
      return written
    })
  }

  refresh(session: Session): Promise<void> {
    return this.alone(session, false, () => {
      this.#state(session).stale = true
      return this.freshen(session)
    })
  }

  released({ session_id, reserved, windows }: OpenClaim, record: Tables['calls']): readonly Change[] {
    return [
      ...this.#budgets.settle(windows, { ...usedBy(record), reserved: -reserved }),
      { table: 'sessions', key: session_id, add: { version: 1 } },
    ]
  }

  /** Writes what memory has counted already. If it is not known whether that is on record, it is read again. */
  async #sure(session: Session, keys: readonly WindowKey[], write: () => Promise<boolean>): Promise<boolean> {
    try {
      return await write()
    } catch (error) {
      this.#state(session).stale = true
      this.#budgets.stale(keys)
      throw error
    }
  }

  /** A change of this process is written that the memory of the session has had since `epoch`. */
  #counted(session: Session, epoch: number | undefined): void {
    const state = this.#state(session)
    // read meanwhile, without it
    if (epoch !== state.epoch) state.stale = true
    else session.row.version = (session.row.version ?? 0) + 1
  }

  #state(session: Session): State {
    const known = this.#states.get(session)
    if (known !== undefined) return known
    const state = { stale: false, epoch: 0 }
    this.#states.set(session, state)
    return state
  }
}

const NO_KEYS: readonly WindowKey[] = []

/** The changes of a session by the end of a call. What other processes add to stays: only sums are added. `isClaimed`: its decision counted it. */
const settleChanges = (settled: Settled, session: Session, isClaimed: boolean): readonly Change[] => {
  const { call, decision } = settled
  const { row } = session
  const closed: Change = { table: 'open_calls', key: call.id, remove: true }
  // nothing of it was on record while the storage failed
  if (session.stored !== true) return [{ table: 'sessions', put: { ...row, version: 1 }, when: 'absent' }, closed]
  const seen: Partial<SessionRow> = { last_seen_at: row.last_seen_at }
  return [
    // fails if the session was removed, which an addition would not
    { table: 'sessions', key: row.id, patch: isFlaggedByReply(settled) ? { ...seen, ...flagOf(row) } : seen },
    { table: 'sessions', key: row.id, add: { ...sumsOf(settled, row), ...(isClaimed ? {} : countOf(settled)) } },
    ...(decision.decision === 'block' ? [] : [closed]),
  ]
}

/** What a call has used, as budgets count it. */
const usageOf = ({ usage, cost, outcome }: Settled): Partial<Usage> =>
  outcome === 'blocked'
    ? {}
    : {
        failed: hasFailed({ outcome }) ? 1 : 0,
        unpriced: isUnpriced(usage.total_tokens, cost?.cost_source) ? 1 : 0,
        tokens: usage.total_tokens,
        cache_read_tokens: usage.cache_read_tokens,
        cost_micro: cost?.cost_micro ?? 0,
      }

/** The same of a record. */
const usedBy = ({ outcome, total_tokens, cost_micro, cost_source }: Tables['calls']): Partial<Usage> => ({
  failed: hasFailed({ outcome }) ? 1 : 0,
  unpriced: isUnpriced(total_tokens, cost_source ?? undefined) ? 1 : 0,
  tokens: total_tokens,
  cost_micro: cost_micro ?? 0,
})

const isFlaggedByReply = ({ decision }: Settled): boolean =>
  decision.decision === 'shadow_flag' && decision.row?.decision === 'allow'

const flagOf = (row: SessionRow): Partial<SessionRow> => ({
  flagged_at: row.flagged_at,
  flagged_rule_id: row.flagged_rule_id,
  flagged_reason: row.flagged_reason,
  flagged_action: row.flagged_action,
})

const sumsOf = (settled: Settled, row: SessionRow): Addends<SessionRow> => {
  const { call, decision, usage, outcome, cost } = settled
  if (decision.decision === 'block') return { version: 1 }
  const cost_micro = cost?.cost_micro ?? 0
  const since = isCounting(row, call.at)
    ? {
        requests_since_flag: requestsIn(call),
        tokens_since_flag: usage.total_tokens,
        cost_since_flag_micro: cost_micro,
      }
    : {}
  return {
    version: 1,
    flagged: isFlaggedByReply(settled) ? 1 : 0,
    errors: hasFailed({ outcome }) ? 1 : 0,
    input_tokens: usage.input_tokens,
    output_tokens: usage.output_tokens,
    total_tokens: usage.total_tokens,
    cache_read_tokens: usage.cache_read_tokens,
    cost_micro,
    ...since,
  }
}

const countOf = ({ call, decision }: Settled): Addends<SessionRow> =>
  decision.repeats !== null ? {} : decision.decision === 'block' ? { blocked: 1 } : { requests: requestsIn(call) }
