import type { Call, Caller, Decision, GuardError, Identity, Session, SessionRow } from 'guard-gateway/core'

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
