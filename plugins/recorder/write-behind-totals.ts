import type { Change, Gateway, Session, SessionRow, Settled } from 'guard-gateway/core'
import { WriteBehind } from '#lib/keyed-queue'
import { flagColumns } from '#lib/session'

/** A request whose record waited longer may not be in flight any more. */
const MAX_RECORD_DELAY_MS = 1_000

interface LastWrite {
  readonly change: Change
  /** The totals cover exactly the requests that ended until then; undefined if others were in flight. */
  readonly until: number | undefined
  isStored: boolean
}

interface PendingTotals {
  readonly session: Session
  readonly totals: Partial<SessionRow>
}

/**
 * Write-behind of session totals. Totals that can be recomputed from the stored row and newer records are deferred: they are written every two seconds and before any read of sessions. After a crash the next start recomputes them (`recovery.ts`). Other totals are written with the record, as are those of a flagged session: what came since its flag is not recomputed.
 */
export class WriteBehindTotals {
  readonly #gateway: Gateway
  readonly #lastWrite = new WeakMap<Session, LastWrite>()
  readonly #rows = new WriteBehind<PendingTotals>((pending) => this.#write(pending))

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** Registers the flush before reads of sessions. */
  start(): void {
    this.#gateway.storage.beforeReads('sessions', (key) => this.#rows.flush(key))
  }

  /** Change of a session for the record of a request that has just ended; undefined if its totals are deferred. */
  changeFor(session: Session, { call, ended_at }: Pick<Settled, 'call' | 'ended_at'>): Change | undefined {
    const delay_ms = this.#gateway.clock.tick() - call.tick - (ended_at - call.at)
    const isOnlyCall = session.open === 1 && delay_ms < MAX_RECORD_DELAY_MS
    if (isOnlyCall && session.row.flagged_at === null && ended_at > this.#coveredUntil(session)) {
      this.#rows.add(session.row.id, { session, totals: sessionTotals(session.row) })
      return undefined
    }
    return this.#change(session, isOnlyCall ? session.row.last_seen_at : undefined)
  }

  /** Change of a session whose totals cannot be deferred. */
  changeNow(session: Session): Change {
    return this.#change(session, undefined)
  }

  /** Marks a change of `changeFor` or `changeNow` as stored. */
  stored(session: Session, change: Change): void {
    session.stored = true
    const last = this.#lastWrite.get(session)
    if (last?.change === change) last.isStored = true
  }

  /** Writes all deferred totals and stops the timer. */
  end(): Promise<void> {
    return this.#rows.end()
  }

  #coveredUntil(session: Session): number {
    const last = this.#lastWrite.get(session)
    return session.stored === true && last?.isStored === true ? (last.until ?? Infinity) : Infinity
  }

  /** Patches a stored session with its totals, or inserts a new one. */
  #change(session: Session, until: number | undefined): Change {
    const { row, stored } = session
    const change: Change =
      stored === true
        ? { table: 'sessions', key: row.id, patch: sessionTotals(row) }
        : { table: 'sessions', put: row, when: 'absent' }
    this.#rows.delete(row.id)
    this.#lastWrite.set(session, { change, until, isStored: false })
    return change
  }

  async #write(pending: PendingTotals): Promise<void> {
    const { session, totals } = pending
    const { id } = session.row
    const change: Change = { table: 'sessions', key: id, patch: totals }
    // until it is stored, the row covers less: recovery finds what ended after either
    this.#lastWrite.set(session, { change, until: totals.last_seen_at, isStored: true })
    const last = await this.#gateway.storage.write([change]).catch(() => undefined)
    if (last === true || this.#lastWrite.get(session)?.change !== change) return
    // false: the row is missing; undefined: the write failed
    if (last === false) session.stored = false
    else if (this.#rows.get(id) === undefined) this.#rows.add(id, pending)
  }
}

/** The columns of a session that its requests change; those of its flag only where it has one. */
export const sessionTotals = (row: SessionRow): Partial<SessionRow> =>
  row.flagged_at === null ? totalsOf(row) : { ...totalsOf(row), ...flagColumns(row) }

const totalsOf = (row: SessionRow): Partial<SessionRow> => ({
  requests: row.requests,
  flagged: row.flagged,
  blocked: row.blocked,
  errors: row.errors,
  input_tokens: row.input_tokens,
  output_tokens: row.output_tokens,
  total_tokens: row.total_tokens,
  cache_read_tokens: row.cache_read_tokens,
  cost_micro: row.cost_micro,
  last_seen_at: row.last_seen_at,
})
