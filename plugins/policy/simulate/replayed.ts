import {
  type Call,
  type CallRecord,
  type Conversation,
  type Match,
  type Place,
  type Row,
  rowOf,
  type Session,
  type SessionRow,
  type Turn,
} from 'guard-gateway/core'
import { evaluate } from '../evaluate.ts'
import { History } from '../history.ts'
import type { Policy } from '../policy.ts'

type Draft = { -readonly [K in keyof Row]: Row[K] }
type Fault = (error: unknown, where: string) => void

/** A stored request and what the rules say of it. */
export interface Judged {
  readonly record: CallRecord
  readonly matches: readonly Match[]
}

/** Lets the stored requests of a session pass the rules again, oldest first, as they came and ended. */
export function* replayed(
  stored: SessionRow,
  records: readonly CallRecord[],
  policy: Policy,
  fault: Fault,
): Iterable<Judged> {
  const past = new Past(stored, policy)
  for (const record of records) {
    past.until(record.received_at)
    const row: Draft = { ...rowOf(record), matches: [] }
    const place = past.place(row)
    row.matches = evaluate(policy, callOf(record, place.turns), past.session, past.history, place, row, fault).matches
    past.add(record, row, place)
    yield { record, matches: row.matches }
  }
}

/** What a session knew at a time. */
class Past {
  readonly session: Session
  readonly history: History
  readonly #newest = new Map<string, Row>()
  /** Turns by thread, oldest first, since the last resume. */
  readonly #turns = new Map<string, readonly Turn[]>()
  readonly #open: { readonly record: CallRecord; readonly row: Row }[] = []
  #resumed: number | null

  constructor(stored: SessionRow, policy: Policy) {
    const row = { ...stored, requests: 0, total_tokens: 0, cost_micro: 0, resumed_at: null, seen_tips: [] }
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
    this.#turns.set(row.thread, turns.slice(-this.history.limit))
    this.#newest.set(row.thread, row)
    this.session.row.requests++
    this.history.usedBy(row.thread).requests++
    if (row.matches.some(({ probe }) => probe === true)) this.history.probe = row.id
    this.#open.push({ record, row })
  }

  #end({ total_tokens, cost_micro }: CallRecord, row: Row): void {
    const { id, outcome, ended_at, error_fingerprint, thread } = row
    this.session.row.total_tokens += total_tokens
    this.session.row.cost_micro += cost_micro ?? 0
    const used = this.history.usedBy(thread)
    used.tokens += total_tokens
    used.cost_micro += cost_micro ?? 0
    if (this.history.probe === id) this.history.probe = null
    if (outcome !== null) this.history.ended({ id, ended_at: ended_at ?? row.at, outcome, error_fingerprint })
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

const nobody = { agent_id: null, key_id: null }

/** A stored request as rules see it: its text is gone. */
const callOf = (record: CallRecord, turns: readonly Turn[]): Call => ({
  id: record.id,
  at: record.received_at,
  tick: 0,
  style: record.style,
  path: record.path,
  query: '',
  headers: {},
  raw_headers: [],
  client: record.client,
  identity: nobody,
  body: Buffer.alloc(0),
  envelope: {
    model: record.model_requested,
    stream: record.stream,
    max_tokens: record.max_tokens,
    temperature: record.temperature,
    before: [],
    after: [],
    tools: undefined,
    tool_choice: undefined,
    previous_response_id: null,
    conversation: null,
    hints: {},
  },
  conversation: conversationOf(record, turns),
  retry_mark: record.retry,
  mode_override: null,
  project_id: record.project_id,
  agent_id: record.agent_id,
  mode: 'shadow',
  upstream: record.upstream,
  session: null,
  notes: {},
})

const conversationOf = ({ fingerprint, bytes_in }: CallRecord, turns: readonly Turn[]): Conversation => ({
  chain: [],
  talk: [],
  turns,
  besides: [],
  fingerprint,
  opening: '',
  text_bytes: bytes_in,
  loose_results: [],
})
