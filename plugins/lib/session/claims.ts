import type { Change, Session, Settled, Tables } from 'guard-gateway/core'

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
