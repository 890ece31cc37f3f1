import type { Call, Outcome } from './call.ts'
import type { ReplyListener } from './contracts/reply.ts'
import type { Turn } from './turns.ts'

/** Why a rule spoke. */
export interface Finding {
  readonly message: string
  readonly evidence: 'session' | 'history' | 'outcomes' | 'budget' | 'stream'
  readonly count?: number
  readonly tool?: string
  /** Call key. */
  readonly key?: string
  /** Request ids for session evidence, turns counted from the end for history evidence, each with the request that first held it where that is known; at most 16. */
  readonly where?: readonly ({ readonly request: string } | { readonly turn: number; readonly request?: string })[]
  /** Whether the rule would have spoken had it asked for equal results, too: false means that result-awareness would have suppressed it; null if unknown, or if no results are involved. */
  readonly results_equal?: boolean | null
  /** When the budget that is used up starts over, milliseconds since 1970. */
  readonly resets_at?: number
  /** The call passes although the rule matched: it probes whether the upstream works again. */
  readonly probe?: boolean
}

/** A rule that matched, with its evidence. */
export interface Match extends Finding {
  readonly rule_id: string
  readonly rule_type: string
  readonly code: string
  readonly action: string
  /** The request was forwarded with a text that names the repetition; false: its body could not be changed. */
  readonly steered?: boolean
  readonly threshold: number
  readonly window_size: number
}

/** What was decided about a call. */
export interface Decision {
  readonly decision: 'allow' | 'shadow_flag' | 'block'
  /** HTTP status of a block. */
  readonly status?: 409 | 429
  readonly reason: string | null
  readonly rule_id: string | null
  readonly message: string
  readonly matches: readonly Match[]
  readonly policy_version: string
  readonly probe: boolean
  /** Rules whose detector failed. */
  readonly faults: readonly string[]
  /** The block also pauses its session, with this reason: it waits for a person. */
  readonly pause_reason?: string
  /** Id of the blocked request that this block repeats; the earlier record then counts it. */
  readonly repeats: string | null
  /** What detection remembers of the request; null when nothing was evaluated. */
  readonly row: Row | null
  /** Listens to the reply; absent where no rule does. */
  readonly watch?: ReplyWatch
}

/** What a decision begins as: nothing speaks against the call. */
export const undecided: Decision = Object.freeze({
  decision: 'allow',
  reason: null,
  rule_id: null,
  message: '',
  matches: Object.freeze([]),
  policy_version: '',
  probe: false,
  faults: Object.freeze([]),
  repeats: null,
  row: null,
})

/** A listener of rules: what it found joins the decision when the reply has ended. */
export interface ReplyWatch extends ReplyListener {
  readonly matches: readonly Match[]
}

/** What a session remembers of one request: hashes, counts and outcomes, no text. Stored in the `calls` table. */
export interface Row {
  readonly id: string
  readonly at: number
  /** Arrival on the monotonic clock; absent in rows that were read from storage. */
  readonly tick?: number
  ended_at: number | null
  readonly fingerprint: string
  readonly chain_tip: string
  readonly talk_tip: string
  /** Item count, and item count without system items. */
  readonly items: number
  readonly talk_items: number
  /** Id of the request that began the thread. */
  readonly thread: string
  /** Not an extension of anything known. */
  readonly root: boolean
  /** Id of the request whose turns come before `new_turns`; never another attempt, but the request that it is an attempt of. */
  readonly parent: string | null
  /** Call keys that count for this request, sorted. */
  readonly keys: readonly string[]
  /** Turns that the extended row did not hold; where it extends none, those before the last may be without their calls. */
  new_turns: readonly Turn[]
  /** A user message that the extended row did not hold stands before them, or behind the last turn where there are none; null: not known. */
  readonly user_first: boolean | null
  readonly decision: Decision['decision']
  readonly reason: string | null
  readonly rule_id: string | null
  /** The loop findings, for a later attempt of the same request. */
  readonly matches: readonly Match[]
  readonly retry: boolean
  readonly probe: boolean
  /** No rule counts it: as its call says, or its provider did not run it. */
  uncounted?: Call['uncounted'] | 'not_run' | null
  /** Identical blocked requests that came after it. */
  retries: number
  /** When the last of them came; null: none did. */
  last_at: number | null
  outcome: Outcome | null
  error_fingerprint: string | null
  response_id: string | null
  total_tokens: number
  /** Of these, those read from a cache; absent while it is under way. */
  cache_read_tokens?: number
  /** Millionths of the billing currency. */
  cost_micro: number
  /** What detectors measured of it, by their ids. */
  readonly measures: Readonly<Record<string, unknown>>
  /** Tokens held for it until it ends. */
  readonly reserved: number
}
