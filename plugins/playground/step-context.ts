import type { Gateway, Mode } from 'guard-gateway/core'
import type { Administration } from './administration.ts'
import type { Observed } from './expectations.ts'
import type { Names } from './names.ts'
import type { Send } from './provider.ts'
import type { StepResult } from './tables.ts'

/** The services that steps use. */
export interface StepContext {
  readonly gateway: Gateway
  readonly send: Send
  readonly administration: Administration
}

/** The run that a step belongs to. */
export interface RunContext {
  readonly scenario_id: string
  readonly mode: Mode
  readonly style: string | null
  readonly names: Names
  /** Called before each step but the first; throws to end the run. */
  readonly between: () => Promise<void>
  /** Called with all results so far and the session of the last request. */
  readonly progress: (steps: readonly StepResult[], session_id: string | null) => Promise<void>
}

/** The observed result of a step, and of its record. */
export interface StepObservation extends Observed {
  readonly request_id: string | null
  readonly rule_id: string | null
  readonly repeats: string | null
  readonly session_id: string | null
  readonly approval_id: string | null
  readonly trace_id: string | null
  readonly span_id: string | null
}

/** The observation of a step that is no request and has no record. */
export const noObservation: StepObservation = {
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
