import type { Change, Gateway, Session, SessionRow, Settled } from 'guard-gateway/core'
import { sessionTotals } from './session-totals.ts'

/** How long the stored totals of a session may be outdated. */
const MAX_DELAY_MS = 2_000
/** A request whose record waited longer may not be in flight any more. */
const MAX_RECORD_DELAY_MS = 1_000

/** The last write of a session's totals. */
interface LastWrite {
  readonly change: Change
  /** The totals cover exactly the requests that ended by then; undefined if others were in flight. */
  readonly until: number | undefined
  isStored: boolean
}

/** Totals that wait for their write. */
interface PendingTotals {
  readonly session: Session
  readonly totals: Partial<SessionRow>
}

/**
 * Write-behind of session totals. Totals that can be computed from the stored row and newer records are deferred: written every two
 * seconds and before any read of sessions. After a crash the next start computes them (`recovery.ts`). Other totals are written with
 * the record.
 */
export class WriteBehindTotals {
  readonly #gateway: Gateway
  readonly #lastWrite = new WeakMap<Session, LastWrite>()
  readonly #pending = new Map<string, PendingTotals>()
  /** Writes under way, by session id. */
  readonly #writing = new Map<string, Promise<void>>()
  #timer: NodeJS.Timeout | undefined

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** From now on no reader sees outdated totals. */
  start(): void {
    this.#gateway.storage.beforeReads('sessions', (key) => this.write(key === undefined ? undefined : String(key)))
  }

  /** The change of a session that is written with the record of a request that has just ended; undefined if its totals are deferred. */
  changeFor(session: Session, { call, ended_at }: Pick<Settled, 'call' | 'ended_at'>): Change | undefined {
    const delay_ms = this.#gateway.clock.tick() - call.tick - (ended_at - call.at)
    const isOnlyCall = session.open === 1 && delay_ms < MAX_RECORD_DELAY_MS
    if (isOnlyCall && ended_at > this.#coveredUntil(session)) {
      this.#defer({ session, totals: sessionTotals(session.row) })
      return undefined
    }
    return this.#change(session, isOnlyCall ? session.row.last_seen_at : undefined)
  }

  /** The change of a session whose totals cannot be deferred. */
  changeNow(session: Session): Change {
    return this.#change(session, undefined)
  }

  /** Notes that a change of `changeFor` or `changeNow` is stored. */
  stored(session: Session, change: Change): void {
    session.stored = true
    const last = this.#lastWrite.get(session)
    if (last?.change === change) last.isStored = true
  }

  /** Writes the totals of one session, or of all; undefined if none are outdated. Never rejects: failed writes are retried. */
  write(id?: string): Promise<unknown> | undefined {
    if (this.#pending.size + this.#writing.size === 0) return undefined
    for (const pending of id === undefined ? this.#pending.values() : this.#pendingOf(id)) this.#write(pending)
    return id === undefined ? Promise.all(this.#writing.values()) : this.#writing.get(id)
  }

  /** Writes all deferred totals and stops the timer. */
  async end(): Promise<void> {
    await this.write()
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #coveredUntil(session: Session): number {
    const last = this.#lastWrite.get(session)
    return session.stored === true && last?.isStored === true ? (last.until ?? Infinity) : Infinity
  }

  /** A stored session is patched with its totals; a new one is inserted. */
  #change(session: Session, until: number | undefined): Change {
    const { row, stored } = session
    const change: Change =
      stored === true
        ? { table: 'sessions', key: row.id, patch: sessionTotals(row) }
        : { table: 'sessions', put: row, when: 'absent' }
    this.#pending.delete(row.id)
    this.#lastWrite.set(session, { change, until, isStored: false })
    return change
  }

  #pendingOf(id: string): readonly PendingTotals[] {
    const pending = this.#pending.get(id)
    return pending === undefined ? [] : [pending]
  }

  #writeAll(): void {
    this.#timer = undefined
    void this.write()
  }

  #write(pending: PendingTotals): void {
    const { id } = pending.session.row
    const writing = this.#attempt(pending).finally(() => {
      if (this.#writing.get(id) === writing) this.#writing.delete(id)
    })
    this.#writing.set(id, writing)
  }

  async #attempt(pending: PendingTotals): Promise<void> {
    const { session, totals } = pending
    const { id } = session.row
    const change: Change = { table: 'sessions', key: id, patch: totals }
    this.#pending.delete(id)
    // until it is stored, the row covers less: recovery finds what ended after either
    this.#lastWrite.set(session, { change, until: totals.last_seen_at, isStored: true })
    const last = await this.#gateway.storage.write([change]).catch(() => undefined)
    if (last === true || this.#lastWrite.get(session)?.change !== change) return
    // false: the row was removed; undefined: the write failed
    if (last === false) session.stored = false
    else if (!this.#pending.has(id)) this.#defer(pending)
  }

  #defer(pending: PendingTotals): void {
    this.#pending.set(pending.session.row.id, pending)
    this.#timer ??= setTimeout(() => this.#writeAll(), MAX_DELAY_MS).unref()
  }
}
