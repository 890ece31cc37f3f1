import type { Call, Chain, Conversation, Match, Row, Session, Turn } from 'guard-gateway/core'
import { requestsIn } from '#lib/session'
import { firstAttempt, isContinued, joinedTurns, type ThreadPlacement } from '#lib/threads'
import { type CallRecord, rowOf } from '#lib/trace'
import { reservedFor } from '../evaluate/decide.ts'
import { evaluate } from '../evaluate/evaluate.ts'
import { History } from '../history/history.ts'
import { hasFailed, isUnpriced } from '../history/settle.ts'
import type { Policy } from '../policy.ts'
import type { ProjectEvidence } from './project-replay.ts'
import type { StoredSession } from './stored-sessions.ts'
import { replyTextFor, type Unseen, unseenBy } from './unseen.ts'

type Draft = { -readonly [K in keyof Row]: Row[K] }
type Fault = (error: unknown, where: string) => void

/** What is counted of a request. */
export type SimulatedRequest = Pick<
  CallRecord,
  'id' | 'received_at' | 'model_requested' | 'total_tokens' | 'cost_micro'
>

/** A request and the matches of the rules. */
export interface JudgedRequest {
  readonly record: SimulatedRequest
  readonly matches: readonly Match[]
  /** Rules that could not judge the request, by id, and why. */
  readonly unseen: ReadonlyMap<string, Unseen>
}

/** Evaluates the rules again on the stored requests of a session, oldest first; `evidence`: from beyond the session. */
export function* reEvaluated(
  stored: StoredSession,
  policy: Policy,
  fault: Fault,
  evidence?: ProjectEvidence,
): Iterable<JudgedRequest> {
  const past = new SessionReplay(stored, policy)
  for (const record of stored.records) {
    past.until(record.received_at)
    const row: Draft = {
      ...rowOf(record),
      matches: [],
      outcome: null,
      ended_at: null,
      last_at: null,
      reserved: reservedFor(record.bytes_in, record.max_tokens),
    }
    const place = past.place(row)
    row.retry = place.original !== undefined
    if (!isPaused(record) && requestsIn(record) === 1)
      row.matches = evaluate(
        policy,
        callOf(record, place.turns, past.session),
        past.session,
        past.history,
        place,
        row,
        fault,
        evidence,
      ).matches
    past.add(record, row, place)
    const { matches, deaf } = replyTextFor(policy, record, fault)
    yield { record, matches: [...row.matches, ...matches], unseen: unseenOf(policy, record, deaf, evidence) }
  }
}

/** No rule judged the request, since its session or agent was paused. */
const isPaused = ({ decision, rule_id }: CallRecord): boolean => decision === 'block' && (rule_id ?? '') === ''

const unseenOf = (
  { active }: Policy,
  record: CallRecord,
  deaf: readonly string[],
  evidence: ProjectEvidence | undefined,
): ReadonlyMap<string, Unseen> => {
  const unseen = new Map<string, Unseen>(deaf.map((id) => [id, 'no_reply_text']))
  for (const rule of active) {
    const why = unseenBy(rule, record, evidence)
    if (why !== undefined) unseen.set(rule.rule.id, why)
  }
  return unseen
}

const nobody = { agent_id: null, key_id: null }

/** A stored request as a call; its text is not stored. */
const callOf = (record: CallRecord, turns: readonly Turn[], session: Session): Call => ({
  id: record.id,
  at: record.received_at,
  tick: record.received_at,
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
  session,
  notes: {},
})

/** The tips of a request are stored, those of its prefixes are not. */
const noConversation: Chain = { length: 0, tip: '', tipOf: () => undefined, longestIn: () => 0 }

const conversationOf = ({ fingerprint, bytes_in }: CallRecord, turns: readonly Turn[]): Conversation => ({
  chain: noConversation,
  talk: noConversation,
  turns,
  systems: [],
  besides: [],
  fingerprint,
  opening: '',
  text_bytes: bytes_in,
  loose_results: [],
})

/** The state of a session as its requests are replayed. */
class SessionReplay {
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
