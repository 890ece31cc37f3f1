import type { Change } from 'guard-gateway/core'
import type { Principal } from './principal.ts'

/** What was done. Who did it is whoever the code runs for, unless said. */
export interface AuditEntry {
  /** What happened, as a name: `session.paused`. */
  readonly action: string
  /** Id of what it was done to. */
  readonly subject?: string | null | undefined
  readonly project_id?: string | null | undefined
  readonly details?: Readonly<Record<string, unknown>>
  readonly actor?: Principal
}

/** Keeps who did what. */
export interface AuditLog {
  /** The change that keeps it, for the batch that does it. */
  change(entry: AuditEntry): Change
  /** Keeps it after it was done; a failure is reported, and rejects nothing. */
  note(entry: AuditEntry): Promise<void>
}

declare module 'guard-gateway/core' {
  interface Services {
    audit: AuditLog
  }
}

/** What belongs into a batch that somebody has asked for: nothing where no plugin keeps who did what. */
export const auditedIn = (audit: AuditLog | undefined, entry: AuditEntry): readonly Change[] =>
  audit === undefined ? [] : [audit.change(entry)]
