import { GuardError } from 'guard-gateway/core'
import type { Answered } from './administration.ts'
import { callOf } from './calls.ts'
import { CollectingClient } from './client.ts'
import type { ModelStep, PauseStep, RequestStep } from './scenario.ts'
import { scriptOf } from './script.ts'
import { noObservation, type RunContext, type StepContext, type StepObservation } from './step-context.ts'

/** Does the steps of a run of a model scenario: requests through the whole pipeline, pauses through the administration API. What they leave paused continues when the run is over, however it ends. */
export const modelActor = (context: StepContext, run: RunContext) => {
  let sessionId: string | null = null
  const left = new Set<PauseStep['target']>()
  return {
    async play(step: ModelStep, index: number): Promise<StepObservation> {
      if (step.do !== 'request') {
        const done = await pause(context, run, step, sessionId)
        if (step.do === 'pause') left.add(step.target)
        else left.delete(step.target)
        return done
      }
      const seen = await request(context, run, step, index)
      sessionId = seen.session_id ?? sessionId
      return seen
    },
    async [Symbol.asyncDispose](): Promise<void> {
      for (const target of left) await context.administration('POST', pathOf(target, run, sessionId, 'resume'))
    },
  }
}

const request = async (
  context: StepContext,
  run: RunContext,
  step: RequestStep,
  index: number,
): Promise<StepObservation> => {
  const { gateway, send } = context
  const { scenario_id, names, mode } = run
  const style = step.style ?? run.style ?? ''
  const script = scriptOf(style, `${scenario_id}-${index}`, step)
  const call = callOf(gateway, style, script.request, names, mode)
  const client = new CollectingClient()
  const cost = 'error_type' in step.reply ? undefined : step.reply.cost_micro
  const settled = await send(call, script.reply, client, cost)
  const decision = settled?.decision
  return {
    ...noObservation,
    decision: client.header('x-guard-decision'),
    reason: client.header('x-guard-reason'),
    http_status: client.status,
    body: client.body,
    broken: client.broken,
    outcome: settled?.outcome ?? null,
    total_tokens: settled?.usage.total_tokens ?? null,
    request_id: call.id,
    rule_id: decision?.rule_id ?? null,
    repeats: decision?.repeats ?? null,
    session_id: client.header('x-guard-session-id'),
    ...(await stepOf(context, decision?.repeats ?? call.id)),
  }
}

/** Where a request is in Replay, as its record says. */
const stepOf = async (
  { gateway: { storage } }: StepContext,
  request_id: string,
): Promise<Pick<StepObservation, 'trace_id' | 'span_id'>> => {
  const row = await storage.get('calls', request_id)
  return { trace_id: row?.trace_id ?? null, span_id: row?.span_id ?? null }
}

const pause = async (
  { administration }: StepContext,
  run: RunContext,
  step: PauseStep,
  sessionId: string | null,
): Promise<StepObservation> => {
  const { target } = step
  if (target === 'session' && sessionId === null)
    throw new GuardError('SESSION_NOT_FOUND', `Step "${step.what}" needs a session, and no request has been sent yet.`)
  const { status, body }: Answered = await administration('POST', pathOf(target, run, sessionId, step.do))
  return { ...noObservation, http_status: status, body }
}

const pathOf = (target: PauseStep['target'], { names }: RunContext, sessionId: string | null, act: string): string =>
  `/api/${target}s/${target === 'session' ? sessionId : names.agent_id}/${act}`
