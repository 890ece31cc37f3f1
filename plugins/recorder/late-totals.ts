import type { Change, Gateway, Session, SessionRow, Settled } from 'guard-gateway/core'
import { sessionTotals } from './rows.ts'

/** How long the stored totals of a session may be behind its records. */
const BEHIND_MS = 2_000
/** A request whose record had to wait longer may not be under way any more. */
const PROMPT_MS = 1_000

/** A write of a session's totals, the last one so far. */
interface Written {
  readonly change: Change
  /** Its totals hold all requests that ended by then, and no others; undefined if others were under way. */
  readonly until: number | undefined
  isStored: boolean
}

/** Totals that are not written yet. */
interface Late {
  readonly session: Session
  readonly totals: Partial<SessionRow>
}

/**
 * Writes the totals of sessions. Where they follow from what is stored and the records behind it, they are put off: written from
 * time to time, and before anybody reads sessions; what a death leaves behind is made up at the next start. Else they go with the
 * record.
 */
export class LateTotals {
  readonly #gateway: Gateway
  readonly #written = new WeakMap<Session, Written>()
  readonly #late = new Map<string, Late>()
  /** Writes under way, by session id. */
  readonly #writing = new Map<string, Promise<void>>()
  #timer: NodeJS.Timeout | undefined

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** From now on no reader sees totals that are behind. */
  begin(): void {
    this.#gateway.storage.beforeReads('sessions', (key) => this.write(key === undefined ? undefined : String(key)))
  }

  /** What is written of a session with the record of a request that has just ended; undefined where its totals are put off. */
  with(session: Session, { call, ended_at }: Pick<Settled, 'call' | 'ended_at'>): Change | undefined {
    const waited = this.#gateway.clock.tick() - call.tick - (ended_at - call.at)
    const isAlone = session.open === 1 && waited < PROMPT_MS
    if (isAlone && ended_at > this.#storedUntil(session)) {
      this.#putOff({ session, totals: sessionTotals(session.row) })
      return undefined
    }
    return this.#now(session, isAlone ? session.row.last_seen_at : undefined)
  }

  /** What is written of a session where nothing can be put off. */
  now(session: Session): Change {
    return this.#now(session, undefined)
  }

  /** A change that was given is stored. */
  stored(session: Session, change: Change): void {
    session.stored = true
    const written = this.#written.get(session)
    if (written?.change === change) written.isStored = true
  }

  /** Writes the totals of one session, or of all; undefined where none are behind. Never rejects: what could not be written is tried again. */
  write(id?: string): Promise<unknown> | undefined {
    if (this.#late.size + this.#writing.size === 0) return undefined
    for (const late of id === undefined ? this.#late.values() : this.#lateOf(id)) this.#write(late)
    return id === undefined ? Promise.all(this.#writing.values()) : this.#writing.get(id)
  }

  /** Writes all that is put off. */
  async end(): Promise<void> {
    await this.write()
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #storedUntil(session: Session): number {
    const written = this.#written.get(session)
    return session.stored === true && written?.isStored === true ? (written.until ?? Infinity) : Infinity
  }

  /** A stored session gets its totals; a new one is put whole. */
  #now(session: Session, until: number | undefined): Change {
    const { row, stored } = session
    const change: Change =
      stored === true
        ? { table: 'sessions', key: row.id, patch: sessionTotals(row) }
        : { table: 'sessions', put: row, when: 'absent' }
    this.#late.delete(row.id)
    this.#written.set(session, { change, until, isStored: false })
    return change
  }

  #lateOf(id: string): readonly Late[] {
    const late = this.#late.get(id)
    return late === undefined ? [] : [late]
  }

  #turn(): void {
    this.#timer = undefined
    void this.write()
  }

  #write(late: Late): void {
    const { id } = late.session.row
    const writing = this.#attempt(late).finally(() => {
      if (this.#writing.get(id) === writing) this.#writing.delete(id)
    })
    this.#writing.set(id, writing)
  }

  async #attempt(late: Late): Promise<void> {
    const { session, totals } = late
    const { id } = session.row
    const change: Change = { table: 'sessions', key: id, patch: totals }
    this.#late.delete(id)
    // until it is stored, what was stored before it holds less: whatever ended behind both is found either way
    this.#written.set(session, { change, until: totals.last_seen_at, isStored: true })
    const written = await this.#gateway.storage.write([change]).catch(() => undefined)
    if (written === true || this.#written.get(session)?.change !== change) return
    // the row is gone, or nothing can be written now
    if (written === false) session.stored = false
    else if (!this.#late.has(id)) this.#putOff(late)
  }

  #putOff(late: Late): void {
    this.#late.set(late.session.row.id, late)
    this.#timer ??= setTimeout(() => this.#turn(), BEHIND_MS).unref()
  }
}
