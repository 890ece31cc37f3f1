import {
  type CallRecord,
  isContinued,
  type Place,
  type Row,
  type Session,
  type SessionRow,
  type Turn,
} from 'guard-gateway/core'
import { History } from '../history.ts'
import type { Policy } from '../policy.ts'
import { hasFailed, isUnpriced } from '../settle.ts'

/** What a session knew at a time. */
export class Past {
  readonly session: Session
  readonly history: History
  readonly #newest = new Map<string, Row>()
  /** Turns by thread, oldest first, since the last resume. */
  readonly #turns = new Map<string, readonly Turn[]>()
  readonly #open: { readonly record: CallRecord; readonly row: Row }[] = []
  #resumed: number | null

  constructor(stored: SessionRow, policy: Policy) {
    const row = { ...stored, requests: 0, errors: 0, total_tokens: 0, cost_micro: 0, resumed_at: null, seen_tips: [] }
    this.session = { row, open: 1 }
    this.history = new History(this.session)
    this.history.limit = policy.reach
    this.#resumed = stored.resumed_at
  }

  /** Ends what had ended by then, and resumes the session if somebody had. */
  until(time: number): void {
    for (const ended of this.#open.filter(({ record }) => record.ended_at <= time)) {
      this.#open.splice(this.#open.indexOf(ended), 1)
      this.#end(ended.record, ended.row)
    }
    if (this.#resumed === null || time <= this.#resumed) return
    this.#resumed = null
    this.history.clear()
    this.#turns.clear()
  }

  /** What of a request is its own, and what came before it. */
  place(row: Row): Place {
    const parent = row.root ? undefined : this.#newest.get(row.thread)
    const known = parent === undefined ? [] : (this.#turns.get(row.thread) ?? [])
    const { thread, root, chain_tip, talk_tip, keys, new_turns } = row
    return {
      thread,
      root,
      chain_tip,
      talk_tip,
      original: row.retry ? this.history.rows.find((one) => isOriginal(one, row)) : undefined,
      parent,
      turns: new_turns.length === 0 && isAnswered(row, parent) ? answered(known) : [...known, ...new_turns],
      keys,
      new_turns,
    }
  }

  add(record: CallRecord, row: Row, { parent, turns }: Place): void {
    this.history.append(row, parent)
    if (row.decision === 'block') return
    if (isContinued(record)) {
      this.#turns.set(row.thread, turns.slice(-this.history.limit))
      this.#newest.set(row.thread, row)
    }
    this.session.row.requests++
    const used = this.history.usedBy(row.thread)
    used.requests++
    used.reserved += row.reserved
    this.history.reserved += row.reserved
    if (row.matches.some(({ probe }) => probe === true)) this.history.probe = row.id
    this.#open.push({ record, row })
  }

  #end(record: CallRecord, row: Row): void {
    const { outcome, ended_at, total_tokens, cost_micro } = record
    row.outcome = outcome
    row.ended_at = ended_at
    const failed = hasFailed(record) ? 1 : 0
    this.session.row.errors += failed
    this.session.row.total_tokens += total_tokens
    this.session.row.cost_micro += cost_micro ?? 0
    const used = this.history.usedBy(row.thread)
    used.failed += failed
    used.tokens += total_tokens
    used.cost_micro += cost_micro ?? 0
    used.reserved -= row.reserved
    this.history.reserved -= row.reserved
    if (isUnpriced(total_tokens, record.cost_source)) this.history.noteUnpriced(row.thread)
    if (this.history.probe === row.id) this.history.probe = null
    this.history.ended({ id: row.id, ended_at, outcome, error_fingerprint: row.error_fingerprint })
  }
}

const isOriginal = (one: Row, row: Row): boolean =>
  one.fingerprint === row.fingerprint && !one.retry && one.decision !== 'block'

/** It has more items than what it goes on from, and no turn among them: somebody has said something. */
const isAnswered = (row: Row, parent: Row | undefined): boolean => parent !== undefined && row.items > parent.items

const answered = (turns: readonly Turn[]): readonly Turn[] => {
  const last = turns.at(-1)
  return last === undefined ? turns : [...turns.slice(0, -1), { ...last, user_after: true }]
}
