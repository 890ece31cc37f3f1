import type { Found, Outcome, Reader } from 'guard-gateway/core'
import type { CallRecord } from 'guard-gateway/lib/trace'
import { failures } from '../figures/measures.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** An update reads few rows; the first read takes full pages. */
const UPDATE_ROWS = 20
const PAGE_ROWS = 500
/** Limit of calls per update. Earlier calls are not counted. */
const MAX_ROWS = 20_000
const MAX_FLAGGED = 8

/** Usage of a period; cost in millionths of the billing currency. */
export interface Usage {
  requests: number
  flagged: number
  blocked: number
  failed: number
  tokens: number
  cost_micro: number
}

export const emptyUsage = (): Usage => ({ requests: 0, flagged: 0, blocked: 0, failed: 0, tokens: 0, cost_micro: 0 })

export const addUsage = (to: Usage, more: Usage): void => {
  for (const name of Object.keys(to) as (keyof Usage)[]) to[name] += more[name]
}

/** Counted columns of a call. */
type CountedCall = Pick<
  CallRecord,
  'id' | 'received_at' | 'ended_at' | 'upstream' | 'attempts' | 'decision' | 'outcome' | 'total_tokens' | 'cost_micro'
>

/** Outcome and time of an upstream's newest response, in milliseconds since 1970. */
export interface LastResponse {
  readonly outcome: Outcome
  readonly at: number
}

/** Usage of an upstream by minute, and its newest response. */
class UpstreamUsage {
  readonly minutes = new Map<number, Usage>()
  last: LastResponse | undefined

  add(call: CountedCall): void {
    const minute = Math.floor(call.received_at / MINUTE_MS)
    const sums = this.minutes.get(minute) ?? emptyUsage()
    this.minutes.set(minute, sums)
    sums.requests++
    if (call.decision === 'shadow_flag') sums.flagged++
    if (call.decision === 'block') sums.blocked++
    if (failures.has(call.outcome)) sums.failed++
    sums.tokens += call.total_tokens
    sums.cost_micro += call.cost_micro ?? 0
    // client aborts and rejected requests do not count
    const hasAnswer = call.attempts > 0 && (call.outcome === 'ok' || failures.has(call.outcome))
    if (hasAnswer && call.ended_at >= (this.last?.at ?? 0)) this.last = { outcome: call.outcome, at: call.ended_at }
  }

  since(from: number): Usage {
    const sums = emptyUsage()
    for (const [minute, usage] of this.minutes) if (minute * MINUTE_MS >= from) addUsage(sums, usage)
    return sums
  }

  forget(before: number): void {
    for (const minute of this.minutes.keys()) if (minute * MINUTE_MS < before) this.minutes.delete(minute)
  }
}

/** Usage of the last day by upstream (today from midnight UTC, and the last hour), and the last flagged or blocked calls. Each call is read once, in order of recording. */
export class Traffic {
  readonly #upstreams = new Map<string, UpstreamUsage>()
  /** The last day is incomplete, because the limit was reached. */
  partial = false
  #newest: string | undefined
  #flagged: readonly CountedCall[] = []
  #updating: Promise<void> = Promise.resolve()

  /** Reads calls that were recorded since the last update. `now`: milliseconds since 1970. */
  update(storage: Reader, now: number): Promise<void> {
    const from = now - DAY_MS
    const updated = this.#updating.then(() => this.#read(storage, from))
    // a failed update is read again next time
    this.#updating = updated.catch(() => {})
    return updated
  }

  /** Names of upstreams in recent calls. */
  names(): readonly string[] {
    return [...this.#upstreams.keys()]
  }

  today(upstream: string, now: number): Usage {
    return this.#upstreams.get(upstream)?.since(todayOf(now)) ?? emptyUsage()
  }

  /** With a precision of minutes. */
  lastHour(upstream: string, now: number): Usage {
    return this.#upstreams.get(upstream)?.since(now - HOUR_MS) ?? emptyUsage()
  }

  last(upstream: string): LastResponse | undefined {
    return this.#upstreams.get(upstream)?.last
  }

  /** Ids of the last flagged or blocked calls, newest first. */
  flagged(): readonly string[] {
    return this.#flagged.map(({ id }) => id)
  }

  async #read(storage: Reader, from: number): Promise<void> {
    const { unread, joins: isContiguous } = await this.#unread(storage, from)
    if (!isContiguous) {
      this.#upstreams.clear()
      this.#flagged = []
      this.partial = unread.length >= MAX_ROWS
    }
    for (const usage of this.#upstreams.values()) usage.forget(from)
    for (const call of unread) {
      const name = call.upstream ?? ''
      const usage = this.#upstreams.get(name) ?? new UpstreamUsage()
      this.#upstreams.set(name, usage)
      usage.add(call)
    }
    this.#newest = unread[0]?.id ?? this.#newest
    this.#flagged = [...unread.filter(({ decision }) => decision !== 'allow'), ...this.#flagged]
      .filter(({ received_at }) => received_at >= from)
      .slice(0, MAX_FLAGGED)
  }

  /** Calls newest first, back to a known call or the start of the period. `isContiguous`: the known calls precede them directly. */
  async #unread(storage: Reader, from: number): Promise<{ unread: readonly CountedCall[]; joins: boolean }> {
    const unread: CountedCall[] = []
    let cursor: string | null = null
    do {
      const page: Found<CallRecord> = await this.#page(storage, cursor)
      const knownIndex = page.rows.findIndex(({ id }) => id === this.#newest)
      const rows = knownIndex === -1 ? page.rows : page.rows.slice(0, knownIndex)
      unread.push(...rows.filter(({ received_at }) => received_at >= from).map(countedCall))
      cursor = page.next_cursor
      if (knownIndex !== -1) return { unread, joins: true }
      if (page.rows.every(({ received_at }) => received_at < from)) break
    } while (cursor !== null && unread.length < MAX_ROWS)
    return { unread, joins: false }
  }

  #page(storage: Reader, cursor: string | null): Promise<Found<CallRecord>> {
    if (cursor !== null) return storage.find('calls', { limit: PAGE_ROWS, cursor })
    return storage.find('calls', { limit: this.#newest === undefined ? PAGE_ROWS : UPDATE_ROWS })
  }
}

const countedCall = (call: CallRecord): CountedCall => {
  const { id, received_at, ended_at, upstream, attempts, decision, outcome, total_tokens, cost_micro } = call
  return { id, received_at, ended_at, upstream, attempts, decision, outcome, total_tokens, cost_micro }
}

const todayOf = (now: number): number => now - (now % DAY_MS)
