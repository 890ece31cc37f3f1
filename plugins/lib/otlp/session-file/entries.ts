import type { Usage } from 'guard-gateway/core'
import type { JsonObject } from '#lib/json'

/** A session as an agent keeps it on disk. */
export interface SessionHead {
  /** The agent's own id of the session. */
  readonly session_id: string
  /** What the trace id is made of: the session id, or more where a file holds only a part of the session. */
  readonly run: string
  /** `claude-code`. */
  readonly agent: string
  readonly version?: string | undefined
  /** The folder it worked in; its last name labels the project. */
  readonly folder?: string | undefined
  /** Who answers: `anthropic`. */
  readonly provider?: string | undefined
}

/** Thread of a session's own agent; every other one is a subagent's. */
export const MAIN = 'main'

/** A tool call as the agent recorded it. */
export interface SessionCall {
  readonly id: string
  readonly tool: string
  /** JSON, or text that stands for itself. */
  readonly args: unknown
  /** Nanoseconds since 1970. */
  readonly at_ns: bigint
}

interface Placed {
  readonly thread: string
  /** Nanoseconds since 1970. */
  readonly at_ns: bigint
  readonly line: number
}

/** What the model is told next, as its API style spells it. */
export interface SessionInput extends Placed {
  readonly type: 'input'
  readonly items: readonly JsonObject[]
}

/** A reply of a model, or why there is none. */
export interface SessionReply extends Placed {
  readonly type: 'reply'
  /** Distinguishes it from other replies of the session. */
  readonly id: string
  /** When its request was made; `at_ns` is when its last part came. */
  readonly started_ns: bigint
  readonly response_id?: string | undefined
  readonly requested_model?: string | undefined
  readonly model?: string | undefined
  /** Undefined where the agent recorded none. */
  readonly usage: Usage | undefined
  /** In US dollars, as the agent recorded it. */
  readonly cost?: number | undefined
  readonly service_tier?: string | undefined
  readonly finish?: string | undefined
  readonly calls: readonly SessionCall[]
  /** Its words, for rules that listen to replies. */
  readonly text: string
  /** The reply as it stands in later requests. */
  readonly items: readonly JsonObject[]
  /** Status where known, and a word for what went wrong. */
  readonly error?: { readonly type: string; readonly status?: number | undefined } | undefined
}

/** A result of a tool call has come. What it says is among the items of an input. */
export interface SessionResult extends Placed {
  readonly type: 'result'
  readonly call_id: string
  readonly failed: boolean
}

/** A call has started another agent. */
export interface SessionSpawn extends Placed {
  readonly type: 'spawn'
  readonly call_id: string
  readonly spawned: string
  readonly agent_name?: string | undefined
}

/** The conversation goes on from its first `keep` items, as after a compaction or a step back. */
export interface SessionRewind extends Placed {
  readonly type: 'rewind'
  readonly keep: number
}

export type SessionEntry = SessionInput | SessionReply | SessionResult | SessionSpawn | SessionRewind

/** An entry and the session it belongs to; one head object a session. */
export interface Recorded {
  readonly head: SessionHead
  readonly entry: SessionEntry
}
