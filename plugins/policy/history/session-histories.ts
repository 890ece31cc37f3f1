import type { Gateway, Row, Session } from 'guard-gateway/core'
import type { MemoryBudget, MemoryPart } from '#lib/memory-budget'
import { everyProject } from '#lib/principal'
import { requestsIn } from '#lib/session'
import { effectOfName } from '#lib/tools'
import { type CallRecord, type OpenCallRow, recordOfOpen, rowOf } from '#lib/trace'
import { DetectorMemory } from './detector-memory.ts'
import { BLOCKED_ROWS, History } from './history.ts'
import { hasFailed, isUnpriced } from './settle.ts'

/** Calls that have not ended, of all processes. */
export interface OpenCalls {
  of(session_id: string): Promise<readonly Pick<OpenCallRow, 'id' | 'record' | 'facts' | 'reserved'>[]>
  /** The row of a call of this process, which its end changes. */
  own(id: string): Row | undefined
}

/** LRU cache of session histories; any other is loaded from the recorded calls when its session is next used. */
export class SessionHistories {
  readonly #gateway: Gateway
  /** Least recently used first. */
  readonly #known = new Map<Session, History>()
  readonly #memory: MemoryPart
  readonly #max_bytes: number
  #bytes = 0
  /** It is in use although it may have no request in flight. */
  #newest: Session | undefined
  #touches = 0
  readonly #memories: DetectorMemory
  readonly #reading = new WeakMap<Session, Promise<History>>()
  /** Set where other processes forward calls of the same sessions. */
  open: OpenCalls | undefined

  /** `max_bytes`: what histories may take of the budget, about. */
  constructor(gateway: Gateway, budget: MemoryBudget, max_bytes = Number.POSITIVE_INFINITY) {
    this.#gateway = gateway
    this.#memory = budget.part({ name: 'histories', shrink: (bytes) => this.#shrink(bytes) })
    this.#max_bytes = max_bytes
    this.#memories = new DetectorMemory(budget)
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The history, unless it must be loaded first. */
  at(session: Session): History | undefined {
    const known = this.#known.get(session)
    if (known !== undefined) return known
    const { requests, blocked } = session.row
    if (requests + blocked > 0 || this.#reading.has(session)) return undefined
    return this.#keep(session, this.#new(session))
  }

  /** Another process has changed what it holds: it is read again. */
  drop(session: Session): void {
    const known = this.#known.get(session)
    if (known === undefined) return
    this.#known.delete(session)
    this.#bytes -= known.counted
    known.evicted()
    this.#memories.drop(session.row.id)
  }

  #new(session: Session): History {
    return new History(session, this.#memories, this.open !== undefined)
  }

  /** Counts the growth of a history, and evicts others if there is no more room. */
  used(session: Session, history: History): void {
    this.#touch(session, history)
    this.#bytes += history.bytes - history.counted
    history.counted = history.bytes
    this.#newest = session
    if (this.#bytes > this.#max_bytes) this.#shrink(this.#max_bytes)
    else this.#memory.hold(this.#bytes)
    this.#newest = undefined
  }

  /** Loads a history of at most `limit` rows; concurrent loads are shared. */
  read(session: Session, limit: number): Promise<History> {
    const reading =
      this.#reading.get(session) ??
      everyProject(() => this.#read(session, limit)).finally(() => this.#reading.delete(session))
    this.#reading.set(session, reading)
    return reading
  }

  async #read(session: Session, limit: number): Promise<History> {
    // where processes share it the session has just been read, and counts a block before the call is on record
    const isUnblocked = this.open !== undefined && session.row.blocked === 0
    const [forwarded, blocked, open] = await Promise.all([
      this.#rows(session, isUnblocked ? undefined : ['allow', 'shadow_flag'], limit),
      isUnblocked ? [] : this.#rows(session, ['block'], BLOCKED_ROWS),
      this.#openRows(session),
    ])
    const history = this.#new(session)
    history.limit = limit
    const settled = [...forwarded, ...blocked].map(rowOf)
    const rows = [...settled, ...open].sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
    replayRows(history, rows, session.row.resumed_at ?? -1)
    for (const row of open) hold(history, row)
    for (const { replied_calls } of forwarded.toReversed())
      for (const { id, tool, key, effect = effectOfName(tool) } of replied_calls ?? [])
        history.replies(id, { tool, key, effect })
    for (const record of forwarded)
      if (isUnpriced(record.total_tokens, record.cost_source)) history.noteUnpriced(record.thread)
    return this.#keep(session, history)
  }

  /** Rows of calls that have not ended. */
  async #openRows({ row: { id } }: Session): Promise<readonly Row[]> {
    const open = (await this.open?.of(id)) ?? []
    const rowOfOpen = (call: (typeof open)[number]): Row => ({
      ...rowOf(recordOfOpen(call)),
      ...{ reserved: call.reserved, ended_at: null, outcome: null, total_tokens: 0 },
    })
    return open.map((call) => this.open?.own(call.id) ?? rowOfOpen(call))
  }

  async #rows(
    session: Session,
    decisions: readonly CallRecord['decision'][] | undefined,
    limit: number,
  ): Promise<readonly CallRecord[]> {
    if (this.#gateway.tables.get('calls') === undefined) return []
    const where = { session_id: session.row.id, ...(decisions === undefined ? {} : { decision: { in: decisions } }) }
    const { rows } = await this.#gateway.storage.find('calls', { where, order: ['recorded', 'desc'], limit })
    return rows
  }

  #keep(session: Session, history: History): History {
    this.used(session, history)
    return history
  }

  /** Moves it to the end, unless it is among the newest half: most requests are of few sessions. */
  #touch(session: Session, history: History): void {
    if (history.touched_at > 0 && this.#touches - history.touched_at < this.#known.size / 2) return
    this.#known.delete(session)
    this.#known.set(session, history)
    history.touched_at = ++this.#touches
  }

  /** Without recorded calls, nothing could be loaded again. */
  #shrink(bytes: number): void {
    if (this.#gateway.tables.get('calls') !== undefined)
      for (const [session, history] of this.#known) {
        if (this.#bytes <= bytes) break
        if (session.open > 0 || session === this.#newest) continue
        this.#known.delete(session)
        this.#bytes -= history.counted
        history.evicted()
      }
    this.#memory.hold(this.#bytes)
  }
}

/** Counts what a call holds that has not ended. */
const hold = (history: History, { id, thread, probe, reserved }: Row): void => {
  history.reserved += reserved
  history.usageOf(thread).reserved += reserved
  if (probe) history.probe = id
}

/** Replays rows into a history, oldest first. */
const replayRows = (history: History, rows: readonly Row[], resumedAt: number): void => {
  const remember = (row: Row) => {
    history.append(row)
    if (row.decision === 'block') return
    const used = history.usageOf(row.thread)
    used.requests += requestsIn(row)
    if (hasFailed(row)) used.failed++
    used.tokens += row.total_tokens
    used.cache_read_tokens += row.cache_read_tokens ?? 0
    used.cost_micro += row.cost_micro
  }
  for (const row of rows) if (row.at <= resumedAt) remember(row)
  history.clear()
  for (const row of rows) if (row.at > resumedAt) remember(row)
  const finished = rows.filter((row) => endOf(row) > resumedAt && row.decision !== 'block' && !row.uncounted)
  for (const row of finished.sort((a, b) => endOf(a) - endOf(b))) {
    const { id, outcome, error_fingerprint } = row
    if (outcome !== null) history.ended({ id, ended_at: endOf(row), outcome, error_fingerprint })
  }
}

const endOf = (row: Row): number => row.ended_at ?? row.at
