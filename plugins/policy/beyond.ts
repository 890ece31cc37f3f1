import type { Call, Period, Row, Session, Start, Totals } from 'guard-gateway/core'

/** Whose use is asked for, and when. */
export type Spender = Pick<Call, 'project_id' | 'agent_id' | 'at'> & Partial<Pick<Call, 'id'>>

/** What rules are shown beyond the past of a session. */
export interface Beyond {
  /** What the agent or the project of a call has used in the present period. */
  totals(period: Period, call: Spender): Totals
  /** Earlier starts that began as a call, by the measure of a detector; undefined if the call is none. */
  starts(detector: string, call: Call, row: Row, session: Session): readonly Start[] | undefined
}
