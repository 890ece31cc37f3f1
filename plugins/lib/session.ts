import {
  type Call,
  type Caller,
  type Change,
  type Decision,
  type GuardError,
  type Identity,
  Kind,
  type Row,
  type Session,
  type SessionRow,
  type Settled,
  type Tables,
} from 'guard-gateway/core'

/** The project of requests that name none, and the one whose policy holds for every project that has none of its own. */
export const DEFAULT_PROJECT = 'default'

/** What a new session starts with beside its id. */
export type SessionStart = Pick<
  SessionRow,
  'project_id' | 'agent_id' | 'external_id' | 'external_source' | 'client'
> & {
  readonly at: number
  /** Absent: not of the Playground. */
  readonly playground?: boolean
}

/** A session of which nothing has been seen yet. */
export const newSessionRow = (id: string, beginning: SessionStart): SessionRow => ({
  id,
  project_id: beginning.project_id,
  agent_id: beginning.agent_id,
  external_id: beginning.external_id,
  external_source: beginning.external_source,
  name: null,
  metadata: {},
  client: beginning.client,
  paused: false,
  paused_at: null,
  pause_reason: null,
  ended_at: null,
  resumed_at: null,
  seen_tips: [],
  requests: 0,
  flagged: 0,
  blocked: 0,
  errors: 0,
  input_tokens: 0,
  output_tokens: 0,
  total_tokens: 0,
  cache_read_tokens: 0,
  cost_micro: 0,
  playground: beginning.playground === true ? true : null,
  version: null,
  flagged_at: null,
  flagged_rule_id: null,
  flagged_reason: null,
  flagged_action: null,
  requests_since_flag: 0,
  tokens_since_flag: 0,
  cost_since_flag_micro: 0,
  created_at: beginning.at,
  last_seen_at: beginning.at,
})

declare module 'guard-gateway/core' {
  interface Services {
    cluster: Cluster
  }
}

/** What the processes know of one another that share one storage. There is none where a process is alone, which then costs nothing. */
export interface Cluster {
  /** Id of this process among them. */
  readonly instance: string
  /** This process does the work that only one of them does: retention, recomputing. */
  readonly leads: boolean
  /** The change that tells the others that a policy, an agent or a key has changed. It belongs into the batch that changes it. */
  readonly changed: Change
  /** The condition that no policy, agent or key has changed since this process last read them. */
  readonly unchanged: Change
  /** Reads whether one has changed, and has the listeners drop what they remember. True if one has. */
  refresh(): Promise<boolean>
  /** The process that wrote this, as `writer` of `guard-gateway/lib/ids` names it, is not among them any more. */
  hasDied(process: string): Promise<boolean>
  /** Calls `listener` before anything is decided on what has changed. */
  onChanged(listener: () => void | Promise<void>): void
  /** Calls `listener` with the id of a process that has died, in one process that is alive; again if it rejects. */
  onEnded(listener: (instance: string) => Promise<void>): void
}

/** Something that each process has for itself and that should be the same for all: a file, by its version. */
export interface InstanceFact {
  readonly id: string
  /** Null: there is none. */
  value(): string | null | Promise<string | null>
}

export const instanceFactKind = new Kind<InstanceFact>('fact of an instance', { value: 'function' })

/** What belongs into a batch that changes a policy, an agent or a key: nothing where no other process remembers them. */
export const changedIn = (cluster: Cluster | undefined): readonly Change[] =>
  cluster === undefined ? [] : [cluster.changed]

export {
  addSinceFlag,
  type Flag,
  type FlagColumns,
  flagColumns,
  flagOf,
  isCounting,
  isRefusing,
  noteFlag,
} from './session/flag.ts'

export { isSessionName, namedSession, onlySession } from './session/session-id.ts'

/** How many requests of its session a call or its record is: a warm-up and a retrieval are none. One that was not run is, since that is known only later. */
export const requestsIn = ({ uncounted }: { readonly uncounted?: Row['uncounted'] | string }): number =>
  uncounted === 'warmup' || uncounted === 'retrieval' ? 0 : 1

declare module 'guard-gateway/core' {
  interface Services {
    claims: Claims
  }
}

/** Writes changes, with those of their writer, in one batch; false if a condition failed. */
type Write = (changes: readonly Change[]) => Promise<boolean>

/** What a call holds that has not ended. */
export interface OpenClaim {
  readonly session_id: string
  /** Tokens held for it. */
  readonly reserved: number
  /** Keys of the rows of budgets that count it. */
  readonly windows: readonly (readonly string[])[]
}

/** What keeps decisions exact that several processes make about one session. Provided while the storage is shared. */
export interface Claims {
  /** Writes the record of a call, with what it adds to its session and to budgets. */
  settle(settled: Settled, write: Write): Promise<boolean>
  /** Writes a change of a session, so that every process sees it at its next decision. */
  change(session: Session, write: Write): Promise<boolean>
  /** Reads the session as it stands now. */
  refresh(session: Session): Promise<void>
  /** What the end of a call changes whose process has died: it counts as its record does, and holds nothing any more. */
  released(call: OpenClaim, record: Tables['calls']): readonly Change[]
}

declare module 'guard-gateway/core' {
  interface Services {
    sessions: Sessions
  }
}

/** Who keeps sessions. */
export interface Sessions {
  /** The session of this id, or of this external id if only one project has it, as it stands now. Rejects with SESSION_NOT_FOUND or AMBIGUOUS_ID. */
  find(id: string): Promise<SessionRow>
  /** A block, if the session or the agent of a call is paused; else the decision before. */
  held(decision: Decision, call: Call): Decision | Promise<Decision>
  /** In whose name a request comes that is no call; nothing is started. Rejects with INVALID_HEADER. */
  callerOf(headers: Readonly<Record<string, string>>, identity: Identity): Promise<Caller>
  /** Why nothing of a caller may be forwarded, as it stands now in all processes: PAUSED_SESSION or PAUSED_AGENT. */
  pauseOf(caller: Caller): Promise<GuardError | undefined>
  /** Pauses a session, in memory at once and durably when it resolves; `attributes` is what its history says of it beside the reason. */
  pause(session: Session, reason: string, attributes: Readonly<Record<string, unknown>>): Promise<void>
}
