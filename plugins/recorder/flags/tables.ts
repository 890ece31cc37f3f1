import { type Table, table } from 'guard-gateway/core'

/** What requests of a session in an hour (UTC) came to, by the rule that flagged or blocked them. All are texts, since they are a key: the empty one stands for null. */
export interface FlagGroup {
  /** `2026-03-01T12` */
  readonly hour: string
  readonly project_id: string
  readonly session_id: string
  readonly rule_id: string
  readonly reason: string
  /** Action of the rule; `block` and `pause` are those that enforcing would have refused requests for. */
  readonly action: string
}

export const flagMeasures = [
  'flagged',
  'blocked',
  'blocked_retries',
  'requests_since_flag',
  'tokens_since_flag',
  'cost_since_flag_micro',
] as const
export type FlagMeasure = (typeof flagMeasures)[number]

/** The first three count requests that this rule flagged or blocked, the others those that came since the flag of the session, where that was of this rule. */
export interface FlagRow extends FlagGroup, Readonly<Record<FlagMeasure, number | null>> {}

declare module 'guard-gateway/core' {
  interface Tables {
    flags_by_hour: FlagRow
  }
}

export const flagKey = [
  'hour',
  'project_id',
  'session_id',
  'rule_id',
  'reason',
  'action',
] as const satisfies readonly (keyof FlagGroup)[]

const texts = { hour: 'text', project_id: 'text', session_id: 'text', rule_id: 'text' } as const
const more = { reason: 'text', action: 'text' } as const
const sums = Object.fromEntries(flagMeasures.map((name) => [name, 'integer'])) as Record<FlagMeasure, 'integer'>

export const flagTable: Table = table({
  id: 'flags_by_hour',
  key: flagKey,
  columns: { ...texts, ...more, ...sums },
  indexes: [['hour'], ['project_id', 'hour'], ['session_id', 'hour']],
  exact: flagKey,
})
