import type {
  Change,
  Cost,
  Decision,
  Match,
  Mode,
  Outcome,
  Reader,
  RepliedTool,
  Row,
  SessionRow,
  Settled,
  Turn,
  Usage,
} from 'guard-gateway/core'
import { newId } from 'guard-gateway/lib/ids'
import { pages } from 'guard-gateway/lib/paging'
import type { RepliedCall } from 'guard-gateway/lib/threads'
import { isUserFirstIn, turnsIn } from './turn-text.ts'

declare module 'guard-gateway/core' {
  interface Tables {
    calls: CallRecord
    session_events: SessionEvent
  }

  interface Recording {
    readonly settled: Settled
    readonly record: CallRecord
    /** 0, then 1, 2, … where an earlier write was refused because something had changed meanwhile. */
    readonly attempt: number
    /** Changes of the same write; more may be pushed. */
    readonly batch: Change[]
  }
}

/**
 * One guarded request as recorded: a row of table `calls`. Times are milliseconds since 1970, sizes bytes.
 * Hashes, names, counts and outcomes; text only in the two previews.
 */
export interface CallRecord extends Usage {
  readonly id: string
  readonly session_id: string | null
  readonly project_id: string
  readonly agent_id: string | null
  /** The user agent. */
  readonly client: string
  readonly style: string
  readonly path: string
  readonly model_requested: string
  readonly model_replied: string | null
  readonly stream: boolean
  /** Tokens the reply may have, as asked for. */
  readonly max_tokens: number | null
  readonly temperature: number | null
  readonly mode: Mode
  readonly decision: Decision['decision']
  readonly reason: string | null
  readonly rule_id: string | null
  /** Null: no rule matched. */
  readonly matches: readonly Match[] | null
  readonly policy_version: string
  readonly probe: boolean
  /** Rules whose detector failed; null if none did. */
  readonly faults: readonly string[] | null
  /** Further facts of the decision event; null if there are none. */
  readonly notes: Readonly<Record<string, unknown>> | null
  readonly outcome: Outcome
  /** Sent to the client; 0 if it left before. */
  readonly status: number
  readonly error_type: string | null
  readonly error_fingerprint: string | null
  readonly upstream: string | null
  /** Host that answered, or was asked last. */
  readonly server_address: string | null
  /** How many upstreams were tried. */
  readonly attempts: number
  readonly upstream_request_id: string | null
  /** Another attempt of a request that the session knows. */
  readonly retry: boolean
  /** Identical blocked requests that came after this one; the last of them stands in the next two columns. */
  readonly retries: number
  readonly last_at: number | null
  readonly last_request_id: string | null
  readonly received_at: number
  readonly forwarded_at: number | null
  readonly first_byte_at: number | null
  readonly ended_at: number
  readonly bytes_in: number
  readonly bytes_out: number
  readonly usage_source: Settled['usage_source']
  readonly finish_reason: string | null
  /** By which a later request may go on from the reply; null where its style knows no such thing. */
  readonly response_id: string | null
  /** The reply's id in any other style. */
  readonly reply_id: string | null
  readonly fingerprint: string
  readonly chain_tip: string
  readonly talk_tip: string
  readonly items: number
  readonly talk_items: number
  readonly thread: string
  readonly root: boolean
  /** Null also in records of earlier versions. */
  readonly parent: string | null
  readonly keys: readonly string[]
  /** Turns behind what the request goes on from, as `turnText` writes them; null: nobody looked, or, in records of earlier versions, none. */
  readonly turns: string | null
  /** Turns of records of earlier versions; null in others. */
  readonly new_turns: readonly Turn[] | null
  /** What detectors measured, by their ids; null: nothing. */
  readonly measures: Row['measures'] | null
  readonly request_preview: string | null
  readonly response_preview: string | null
  /** Where the call stands among traces; null where none are kept. */
  readonly trace_id: string | null
  readonly span_id: string | null
  readonly parent_span_id: string | null
  /** Calls of the reply that a later request may give results of without repeating them; null: none. */
  readonly replied_calls:
    | readonly (Omit<RepliedCall, 'effect'> & Partial<Pick<RepliedCall, 'effect'>> & { readonly id: string })[]
    | null
  /** What the reply asked to call; null: nothing, or no traces are kept. */
  readonly tool_calls: readonly RepliedTool[] | null
  /** Null: nobody knows prices. */
  readonly cost_micro: number | null
  readonly cost_source: Cost['cost_source'] | null
  readonly price_version: string | null
}

/** Turns that a record adds to what it goes on from. */
export const newTurnsOf = ({ turns, new_turns }: Pick<CallRecord, 'turns' | 'new_turns'>): readonly Turn[] =>
  turns === null ? (new_turns ?? []) : turnsIn(turns)

/** What detection remembers of a recorded request: how a session's history is read back after a restart. */
export const rowOf = (record: CallRecord): Row => ({
  id: record.id,
  at: record.received_at,
  ended_at: record.ended_at,
  fingerprint: record.fingerprint,
  chain_tip: record.chain_tip,
  talk_tip: record.talk_tip,
  items: record.items,
  talk_items: record.talk_items,
  thread: record.thread,
  root: record.root,
  parent: record.parent,
  keys: record.keys,
  new_turns: newTurnsOf(record),
  user_first: record.turns === null ? null : isUserFirstIn(record.turns),
  measures: record.measures ?? {},
  decision: record.decision,
  reason: record.reason,
  rule_id: record.rule_id,
  matches: record.matches ?? [],
  retry: record.retry,
  probe: record.probe,
  retries: record.retries,
  last_at: record.last_at,
  outcome: record.outcome,
  error_fingerprint: record.error_fingerprint,
  response_id: record.response_id,
  total_tokens: record.total_tokens,
  cache_read_tokens: record.cache_read_tokens,
  cost_micro: record.cost_micro ?? 0,
  reserved: 0,
})

/**
 * What happened to a session beside its requests, which `calls` tell of: a row of table `session_events`. `at` is milliseconds since 1970.
 * Only rows of earlier versions have a `decision`; readers leave them out, since their calls tell the same.
 */
export interface SessionEvent {
  readonly id: string
  readonly session_id: string
  readonly project_id: string
  readonly agent_id: string | null
  readonly name: string
  readonly at: number
  readonly severity: 'info' | 'warn' | 'error'
  readonly request_id: string | null
  readonly decision: Decision['decision'] | null
  readonly attributes: Readonly<Record<string, unknown>> | null
}

/** A history entry for something that happened to a session beside its requests, for example `session.paused`. */
export const sessionEvent = (
  session: SessionRow,
  name: string,
  at: number,
  attributes: Readonly<Record<string, unknown>> = {},
): SessionEvent => ({
  id: newId('evt_', at),
  session_id: session.id,
  project_id: session.project_id,
  agent_id: session.agent_id,
  name,
  at,
  severity: 'info',
  request_id: null,
  decision: null,
  attributes,
})

/** What is on record of a session's requests, oldest first, at most about so many; `truncated`: there are more. */
export const recordedCalls = async (
  storage: Reader,
  session_id: string,
  most: number,
): Promise<{ readonly records: readonly CallRecord[]; readonly truncated: boolean }> => {
  const records: CallRecord[] = []
  let truncated = false
  for await (const page of pages(storage, 'calls', { where: { session_id }, order: ['recorded', 'asc'] })) {
    truncated = records.length >= most
    if (truncated) break
    records.push(...page)
  }
  return { records: records.sort((a, b) => a.received_at - b.received_at || (a.id < b.id ? -1 : 1)), truncated }
}
