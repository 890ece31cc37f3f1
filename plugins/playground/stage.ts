import type { Gateway, Mode } from 'guard-gateway/core'
import type { Administration } from './administration.ts'
import type { Observed } from './expectations.ts'
import type { Names } from './names.ts'
import type { Send } from './provider.ts'
import type { StepResult } from './tables.ts'

/** What steps need to run. */
export interface Stage {
  readonly gateway: Gateway
  readonly send: Send
  readonly administration: Administration
}

/** A run as its steps see it. */
export interface Part {
  readonly scenario_id: string
  readonly mode: Mode
  readonly style: string | null
  readonly names: Names
  /** Called before each step but the first; throws to end the run. */
  readonly between: () => Promise<void>
  /** Called with all results so far and the session of the last request. */
  readonly progress: (steps: readonly StepResult[], session_id: string | null) => Promise<void>
}

/** What was seen of a step, and of its record. */
export interface Seen extends Observed {
  readonly request_id: string | null
  readonly rule_id: string | null
  readonly repeats: string | null
  readonly session_id: string | null
  readonly approval_id: string | null
  readonly trace_id: string | null
  readonly span_id: string | null
}

/** Of a step that is no request and has no record: nothing but what is said of it. */
export const unseen: Seen = {
  decision: null,
  reason: null,
  http_status: null,
  body: '',
  broken: false,
  outcome: null,
  action: null,
  forwarded: null,
  total_tokens: null,
  request_id: null,
  rule_id: null,
  repeats: null,
  session_id: null,
  approval_id: null,
  trace_id: null,
  span_id: null,
}
