/** What a check found in a result, for which rule, and what was done about it. */
export interface RecordedFinding {
  /** `results` for the checks of the whole policy. */
  readonly rule_id: string
  readonly check: string
  /** JSON pointer into the result. */
  readonly pointer: string
  readonly reason: string
  readonly certain: boolean
  /** `shadow`: nothing but this record; `deny`: the client got an error instead of the result. */
  readonly action: ResultAction
}

export const resultActions = ['shadow', 'redact', 'cut', 'deny'] as const
export type ResultAction = (typeof resultActions)[number]
