import type { Found, Outcome, Reader } from 'guard-gateway/core'
import type { CallRecord } from 'guard-gateway/lib/trace'
import { failures } from '../aggregates.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** What comes by between two looks is mostly little; where nothing was read yet, it may be much. */
const FIRST_ROWS = 20
const PAGE_ROWS = 500
/** Calls that are read in one look; what lies before them is not counted. */
const MOST_ROWS = 20_000
const MOST_FLAGGED = 8

/** What requests of a stretch of time came to; cost in millionths of the billing currency. */
export interface Sums {
  requests: number
  flagged: number
  blocked: number
  failed: number
  tokens: number
  cost_micro: number
}

export const noSums = (): Sums => ({ requests: 0, flagged: 0, blocked: 0, failed: 0, tokens: 0, cost_micro: 0 })

export const addSums = (to: Sums, more: Sums): void => {
  for (const name of Object.keys(to) as (keyof Sums)[]) to[name] += more[name]
}

/** As much of a call as is counted. */
type Noted = Pick<
  CallRecord,
  'id' | 'received_at' | 'ended_at' | 'upstream' | 'attempts' | 'decision' | 'outcome' | 'total_tokens' | 'cost_micro'
>

/** How the newest request that an upstream was asked ended, and when, milliseconds since 1970. */
export interface LastAnswer {
  readonly outcome: Outcome
  readonly at: number
}

/** Sums of an upstream by the minute, and its newest answer. */
class Counted {
  readonly minutes = new Map<number, Sums>()
  last: LastAnswer | undefined

  add(call: Noted): void {
    const minute = Math.floor(call.received_at / MINUTE_MS)
    const sums = this.minutes.get(minute) ?? noSums()
    this.minutes.set(minute, sums)
    sums.requests++
    if (call.decision === 'shadow_flag') sums.flagged++
    if (call.decision === 'block') sums.blocked++
    if (failures.has(call.outcome)) sums.failed++
    sums.tokens += call.total_tokens
    sums.cost_micro += call.cost_micro ?? 0
    // a client that left, or was refused, says nothing of the upstream
    const isTold = call.attempts > 0 && (call.outcome === 'ok' || failures.has(call.outcome))
    if (isTold && call.ended_at >= (this.last?.at ?? 0)) this.last = { outcome: call.outcome, at: call.ended_at }
  }

  since(from: number): Sums {
    const sums = noSums()
    for (const [minute, counted] of this.minutes) if (minute * MINUTE_MS >= from) addSums(sums, counted)
    return sums
  }

  forget(before: number): void {
    for (const minute of this.minutes.keys()) if (minute * MINUTE_MS < before) this.minutes.delete(minute)
  }
}

/** Requests of the last day: sums of today, from midnight UTC, and of the last hour, by upstream, and which were flagged or blocked last. Each recorded call is read once, in the order in which calls were recorded. */
export class Traffic {
  readonly #upstreams = new Map<string, Counted>()
  /** Not all of the last day was counted: there was too much to read at once. */
  partial = false
  #newest: string | undefined
  #flagged: readonly Noted[] = []
  #looking: Promise<void> = Promise.resolve()

  /** Reads what was recorded since the last look. `now`: milliseconds since 1970. */
  look(storage: Reader, now: number): Promise<void> {
    const from = now - DAY_MS
    const looked = this.#looking.then(() => this.#read(storage, from))
    // one that fails reads the same again next time
    this.#looking = looked.catch(() => {})
    return looked
  }

  /** Names of upstreams that were asked lately. */
  names(): readonly string[] {
    return [...this.#upstreams.keys()]
  }

  today(upstream: string, now: number): Sums {
    return this.#upstreams.get(upstream)?.since(todayOf(now)) ?? noSums()
  }

  /** To the minute. */
  lastHour(upstream: string, now: number): Sums {
    return this.#upstreams.get(upstream)?.since(now - HOUR_MS) ?? noSums()
  }

  last(upstream: string): LastAnswer | undefined {
    return this.#upstreams.get(upstream)?.last
  }

  /** Ids of the calls that were flagged or blocked last, newest first. */
  flagged(): readonly string[] {
    return this.#flagged.map(({ id }) => id)
  }

  async #read(storage: Reader, from: number): Promise<void> {
    const { unread, joins } = await this.#unread(storage, from)
    if (!joins) {
      this.#upstreams.clear()
      this.#flagged = []
      this.partial = unread.length >= MOST_ROWS
    }
    for (const counted of this.#upstreams.values()) counted.forget(from)
    for (const call of unread) {
      const name = call.upstream ?? ''
      const counted = this.#upstreams.get(name) ?? new Counted()
      this.#upstreams.set(name, counted)
      counted.add(call)
    }
    this.#newest = unread[0]?.id ?? this.#newest
    this.#flagged = [...unread.filter(({ decision }) => decision !== 'allow'), ...this.#flagged]
      .filter(({ received_at }) => received_at >= from)
      .slice(0, MOST_FLAGGED)
  }

  /** Newest first, until one that was read before or a page that is too old; `joins`: what was read before goes on behind them. */
  async #unread(storage: Reader, from: number): Promise<{ unread: readonly Noted[]; joins: boolean }> {
    const unread: Noted[] = []
    let cursor: string | null = null
    do {
      const page: Found<CallRecord> = await this.#page(storage, cursor)
      const known = page.rows.findIndex(({ id }) => id === this.#newest)
      const rows = known === -1 ? page.rows : page.rows.slice(0, known)
      unread.push(...rows.filter(({ received_at }) => received_at >= from).map(notedOf))
      cursor = page.next_cursor
      if (known !== -1) return { unread, joins: true }
      if (page.rows.every(({ received_at }) => received_at < from)) break
    } while (cursor !== null && unread.length < MOST_ROWS)
    return { unread, joins: false }
  }

  #page(storage: Reader, cursor: string | null): Promise<Found<CallRecord>> {
    if (cursor !== null) return storage.find('calls', { limit: PAGE_ROWS, cursor })
    return storage.find('calls', { limit: this.#newest === undefined ? PAGE_ROWS : FIRST_ROWS })
  }
}

const notedOf = (call: CallRecord): Noted => {
  const { id, received_at, ended_at, upstream, attempts, decision, outcome, total_tokens, cost_micro } = call
  return { id, received_at, ended_at, upstream, attempts, decision, outcome, total_tokens, cost_micro }
}

const todayOf = (now: number): number => now - (now % DAY_MS)
