import type { Call, Chain, Conversation, Match, Row, Session, Turn } from 'guard-gateway/core'
import { type CallRecord, rowOf } from 'guard-gateway/lib/trace'
import { reservedFor } from '../decide.ts'
import { evaluate } from '../evaluate.ts'
import type { Policy } from '../policy.ts'
import { Past } from './past.ts'
import type { StoredSession } from './stored.ts'
import type { Swept } from './sweep.ts'
import { heardIn, type Unseen, unseenBy } from './unseen.ts'

type Draft = { -readonly [K in keyof Row]: Row[K] }
type Fault = (error: unknown, where: string) => void

/** A stored request and what the rules say of it. */
export interface Judged {
  readonly record: CallRecord
  readonly matches: readonly Match[]
  /** Ids of rules that could not tell about it, and why. */
  readonly unseen: ReadonlyMap<string, Unseen>
}

/** Lets the stored requests of a session pass the rules again, oldest first, as they came and ended; `swept` is what they are shown beyond it. */
export function* replayed(stored: StoredSession, policy: Policy, fault: Fault, swept?: Swept): Iterable<Judged> {
  const past = new Past(stored, policy)
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
    if (!isPaused(record))
      row.matches = evaluate(
        policy,
        callOf(record, place.turns, past.session),
        past.session,
        past.history,
        place,
        row,
        fault,
        swept,
      ).matches
    past.add(record, row, place)
    const { matches, deaf } = heardIn(policy, record, fault)
    yield { record, matches: [...row.matches, ...matches], unseen: unseenOf(policy, record, deaf, swept) }
  }
}

/** Refused by no rule: its session or agent was paused, and then none is asked. */
const isPaused = ({ decision, rule_id }: CallRecord): boolean => decision === 'block' && (rule_id ?? '') === ''

const unseenOf = (
  { active }: Policy,
  record: CallRecord,
  deaf: readonly string[],
  swept: Swept | undefined,
): ReadonlyMap<string, Unseen> => {
  const unseen = new Map<string, Unseen>(deaf.map((id) => [id, 'no_reply_text']))
  for (const rule of active) {
    const why = unseenBy(rule, record, swept)
    if (why !== undefined) unseen.set(rule.rule.id, why)
  }
  return unseen
}

const nobody = { agent_id: null, key_id: null }

/** A stored request as rules see it: its text is gone. */
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

/** What is stored tells the tips of a request, and not those of its beginnings. */
const forgotten: Chain = { length: 0, tip: '', tipOf: () => undefined, longestIn: () => 0 }

const conversationOf = ({ fingerprint, bytes_in }: CallRecord, turns: readonly Turn[]): Conversation => ({
  chain: forgotten,
  talk: forgotten,
  turns,
  systems: [],
  besides: [],
  fingerprint,
  opening: '',
  text_bytes: bytes_in,
  loose_results: [],
})
