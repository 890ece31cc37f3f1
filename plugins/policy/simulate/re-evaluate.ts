import type { Call, Chain, Conversation, Match, Row, Session, Turn } from 'guard-gateway/core'
import { requestsIn } from 'guard-gateway/lib/session'
import { type CallRecord, rowOf } from 'guard-gateway/lib/trace'
import { reservedFor } from '../evaluate/decide.ts'
import { evaluate } from '../evaluate/evaluate.ts'
import type { Policy } from '../policy.ts'
import type { ProjectEvidence } from './project-replay.ts'
import { SessionReplay } from './session-replay.ts'
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
