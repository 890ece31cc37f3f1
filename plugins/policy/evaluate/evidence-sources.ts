import type { Call, Period, Row, Session, Start, Totals } from 'guard-gateway/core'

/** Whose usage is asked for, and when. */
export type Spender = Pick<Call, 'project_id' | 'agent_id' | 'at'> & Partial<Pick<Call, 'id'>>

/** Evidence from beyond a session. */
export interface EvidenceSources {
  /** Usage of the call's agent or project in the current period. */
  totals(period: Period, call: Spender): Totals
  /** Earlier starts with the same measure of a detector; undefined if the call is no start. */
  starts(detector: string, call: Call, row: Row, session: Session): readonly Start[] | undefined
}
