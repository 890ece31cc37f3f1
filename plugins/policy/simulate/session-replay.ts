import type { Row, Session, Turn } from 'guard-gateway/core'
import { requestsIn } from 'guard-gateway/lib/session'
import { firstAttempt, isContinued, joinedTurns, type ThreadPlacement } from 'guard-gateway/lib/threads'
import type { CallRecord } from 'guard-gateway/lib/trace'
import { History } from '../history/history.ts'
import { hasFailed, isUnpriced } from '../history/settle.ts'
import type { Policy } from '../policy.ts'
import type { StoredSession } from './stored-sessions.ts'

/** The state of a session as its requests are replayed. */
export class SessionReplay {
  readonly session: Session
  readonly history: History
  /** The newest row of each thread, the parent of rows without one. */
  readonly #newest = new Map<string, Row>()
  /** Turns of a row and of those before it, oldest first, since the last resume. */
  #turns = new WeakMap<Row, readonly Turn[]>()
  readonly #open: { readonly record: CallRecord; readonly row: Row }[] = []
  readonly #resumes: number[]

  constructor({ session: stored, resumes }: StoredSession, policy: Policy) {
    const row = {
      ...stored,
      requests: 0,
      errors: 0,
      total_tokens: 0,
      cache_read_tokens: 0,
      cost_micro: 0,
      resumed_at: null,
      seen_tips: [],
    }
    this.session = { row, open: 1 }
    this.history = new History(this.session)
    this.history.limit = policy.reach
    this.#resumes = [...resumes]
  }

  /** Ends the requests that had ended by then, and resumes the session as it was resumed. */
  until(time: number): void {
    for (let at = this.#resumes[0]; at !== undefined && at < time; at = this.#resumes[0]) {
      this.#resumes.shift()
      this.#endUntil(at)
      this.history.clear()
      this.#turns = new WeakMap()
    }
    this.#endUntil(time)
  }

  /** The placement of a request in its thread. */
  place(row: Row): ThreadPlacement {
    const parent = this.#parentOf(row)
    const known = parent === undefined ? [] : (this.#turns.get(parent) ?? [])
    const { thread, root, chain_tip, talk_tip, keys, new_turns } = row
    const user_first = row.user_first ?? isAnswered(row, parent)
    return {
      thread,
      root,
      chain_tip,
      talk_tip,
      original: row.retry ? firstAttempt(row.fingerprint, this.history.rows) : undefined,
      parent,
      turns: joinedTurns([
        { new_turns: known, user_first: false },
        { new_turns, user_first },
      ]),
      keys,
      new_turns,
      user_first,
    }
  }

  add(record: CallRecord, row: Row, { turns }: ThreadPlacement): void {
    this.history.append(row)
    this.#turns.set(row, turns.slice(-this.history.limit))
    if (row.decision === 'block') return
    if (isContinued({ outcome: record.outcome, new_turns: row.new_turns })) this.#newest.set(row.thread, row)
    const requests = requestsIn(row)
    this.session.row.requests += requests
    const used = this.history.usageOf(row.thread)
    used.requests += requests
    used.reserved += row.reserved
    this.history.reserved += row.reserved
    if (row.matches.some(({ probe }) => probe === true)) this.history.probe = row.id
    this.#open.push({ record, row })
  }

  #parentOf({ root, parent, thread }: Row): Row | undefined {
    if (parent !== null) return this.history.rows.find(({ id }) => id === parent)
    return root ? undefined : this.#newest.get(thread)
  }

  /** In the order in which they ended. */
  #endUntil(time: number): void {
    const ended = this.#open.filter(({ record }) => record.ended_at <= time)
    for (const one of ended.sort((a, b) => a.record.ended_at - b.record.ended_at)) {
      this.#open.splice(this.#open.indexOf(one), 1)
      this.#end(one.record, one.row)
    }
  }

  #end(record: CallRecord, row: Row): void {
    const { outcome, ended_at, total_tokens, cache_read_tokens, cost_micro } = record
    row.outcome = outcome
    row.ended_at = ended_at
    const failed = hasFailed(record) ? 1 : 0
    this.session.row.errors += failed
    this.session.row.total_tokens += total_tokens
    this.session.row.cache_read_tokens += cache_read_tokens
    this.session.row.cost_micro += cost_micro ?? 0
    const used = this.history.usageOf(row.thread)
    used.failed += failed
    used.tokens += total_tokens
    used.cache_read_tokens += cache_read_tokens
    used.cost_micro += cost_micro ?? 0
    used.reserved -= row.reserved
    this.history.reserved -= row.reserved
    if (isUnpriced(total_tokens, record.cost_source)) this.history.noteUnpriced(row.thread)
    if (this.history.probe === row.id) this.history.probe = null
    if (row.uncounted) return
    this.history.ended({ id: row.id, ended_at, outcome, error_fingerprint: row.error_fingerprint })
  }
}

/** For rows without `user_first`: the row has more items than its parent, and no turn among them. */
const isAnswered = ({ new_turns, items }: Row, parent: Row | undefined): boolean =>
  new_turns.length === 0 && parent !== undefined && items > parent.items
