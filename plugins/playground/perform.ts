import { type Gateway, GuardError, type Mode } from 'guard-gateway/core'
import { type Administration, type Answered, setRules } from './administration.ts'
import { callOf } from './calls.ts'
import { CollectingClient } from './client.ts'
import { defaultRules } from './default-rules.ts'
import { missed, type Observed } from './expectations.ts'
import type { Names } from './names.ts'
import type { Send } from './provider.ts'
import type { PauseStep, RequestStep, Scenario, Step } from './scenario.ts'
import { scriptOf } from './script.ts'
import type { StepResult } from './tables.ts'

/** What steps need to run. */
export interface Stage {
  readonly gateway: Gateway
  readonly send: Send
  readonly administration: Administration
}

/** A run as its steps see it. */
export interface Part {
  readonly scenario: Scenario
  readonly mode: Mode
  readonly style: string | null
  readonly names: Names
  /** Called before each step but the first; throws to end the run. */
  readonly between: () => Promise<void>
  /** Called with all results so far and the session of the last request. */
  readonly progress: (steps: readonly StepResult[], session_id: string | null) => Promise<void>
}

/** What was seen of a step, and of its record. */
interface Seen extends Observed {
  readonly request_id: string | null
  readonly rule_id: string | null
  readonly repeats: string | null
  readonly session_id: string | null
}

/** Runs the steps of a scenario one after the other, telling of each. Throws what keeps a step from being run. */
export const perform = async (stage: Stage, part: Part): Promise<readonly StepResult[]> => {
  const { scenario, names } = part
  await setRules(stage.administration, names.project_id, scenario.rules ?? defaultRules)
  const { clock } = stage.gateway
  const results: StepResult[] = []
  let sessionId: string | null = null
  for (const [place, step] of scenario.steps.entries()) {
    if (place > 0) await part.between()
    const began = clock.tick()
    const seen: Seen =
      step.do === 'request' ? await request(stage, part, step, place + 1) : await pause(stage, part, step, sessionId)
    sessionId = seen.session_id ?? sessionId
    results.push(resultOf(step, place + 1, part.mode, seen, clock.tick() - began))
    await part.progress([...results], sessionId)
  }
  return results
}

const request = async (stage: Stage, part: Part, step: RequestStep, index: number): Promise<Seen> => {
  const { gateway, send } = stage
  const { scenario, names, mode } = part
  const style = step.style ?? part.style ?? ''
  const script = scriptOf(style, `${scenario.id}-${index}`, step)
  const call = callOf(gateway, style, script.request, names, mode)
  const client = new CollectingClient()
  const settled = await send(call, script.reply, client)
  return {
    decision: client.header('x-guard-decision'),
    reason: client.header('x-guard-reason'),
    http_status: client.status,
    body: client.body,
    broken: client.broken,
    outcome: settled?.outcome ?? null,
    total_tokens: settled?.usage.total_tokens ?? null,
    request_id: call.id,
    rule_id: settled?.decision.rule_id ?? null,
    repeats: settled?.decision.repeats ?? null,
    session_id: client.header('x-guard-session-id'),
  }
}

const pause = async (
  { administration }: Stage,
  { names }: Part,
  step: PauseStep,
  sessionId: string | null,
): Promise<Seen> => {
  const { target } = step
  if (target === 'session' && sessionId === null)
    throw new GuardError('SESSION_NOT_FOUND', `Step "${step.what}" needs a session, and no request has been sent yet.`)
  const id = target === 'session' ? sessionId : names.agent_id
  const { status, body }: Answered = await administration('POST', `/api/${target}s/${id}/${step.do}`)
  return { ...unrequested, http_status: status, body }
}

const unrequested = {
  decision: null,
  reason: null,
  outcome: null,
  total_tokens: null,
  broken: false,
  request_id: null,
  rule_id: null,
  repeats: null,
  session_id: null,
} as const

const resultOf = (step: Step, index: number, mode: Mode, seen: Seen, duration: number): StepResult => {
  const expected = step.expect[mode]
  const lacking = missed(expected, seen)
  const { body: _body, session_id: _session, ...told } = seen
  return {
    index,
    what: step.what,
    do: step.do,
    ...told,
    expected,
    matched: lacking.length === 0,
    missed: lacking,
    duration_ms: Math.round(duration),
  }
}
