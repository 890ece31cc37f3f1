import type { CallRecord, Found, Outcome, Reader } from 'guard-gateway/core'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** What comes by between two looks is mostly little; where nothing was read yet, it may be much. */
const FIRST_ROWS = 20
const PAGE_ROWS = 500
/** Calls that are read in one look; what lies before them is not counted. */
const MOST_ROWS = 50_000

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

const failures: ReadonlySet<Outcome> = new Set<Outcome>(['upstream_error', 'unreachable', 'truncated'])

/** How the newest request that an upstream was asked ended, and when, milliseconds since 1970. */
export interface LastAnswer {
  readonly outcome: Outcome
  readonly at: number
}

/** Sums of an upstream by the minute, and its newest answer. */
class Counted {
  readonly minutes = new Map<number, Sums>()
  last: LastAnswer | undefined

  add(call: CallRecord): void {
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

/** Requests of today, from midnight UTC, and of the last hour, by upstream. Each recorded call is read once, in the order in which calls were recorded. */
export class Traffic {
  readonly #upstreams = new Map<string, Counted>()
  #newest: string | undefined
  #looking: Promise<void> = Promise.resolve()

  /** Reads what was recorded since the last look. `now`: milliseconds since 1970. */
  look(storage: Reader, now: number): Promise<void> {
    const from = Math.min(todayOf(now), now - HOUR_MS)
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

  async #read(storage: Reader, from: number): Promise<void> {
    const rows = await this.#unread(storage, from)
    for (const counted of this.#upstreams.values()) counted.forget(from)
    for (const call of rows) {
      if (call.received_at < from) continue
      const name = call.upstream ?? ''
      const counted = this.#upstreams.get(name) ?? new Counted()
      this.#upstreams.set(name, counted)
      counted.add(call)
    }
    this.#newest = rows[0]?.id ?? this.#newest
  }

  /** Newest first, until one that was read before or a page that is too old. */
  async #unread(storage: Reader, from: number): Promise<readonly CallRecord[]> {
    const unread: CallRecord[] = []
    let cursor: string | null = null
    do {
      const limit = cursor === null && this.#newest !== undefined ? FIRST_ROWS : PAGE_ROWS
      const page: Found<CallRecord> = await storage.find('calls', { limit, ...(cursor === null ? {} : { cursor }) })
      const known = page.rows.findIndex(({ id }) => id === this.#newest)
      unread.push(...(known === -1 ? page.rows : page.rows.slice(0, known)))
      cursor = page.next_cursor
      if (known !== -1 || page.rows.every(({ received_at }) => received_at < from)) return unread
    } while (cursor !== null && unread.length < MOST_ROWS)
    return unread
  }
}

const todayOf = (now: number): number => now - (now % DAY_MS)
