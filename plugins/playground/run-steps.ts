import { setRules } from './administration.ts'
import { defaultRules } from './default-rules.ts'
import { missed } from './expectations.ts'
import { mcpActor } from './mcp-steps.ts'
import { modelActor } from './model-steps.ts'
import type { Scenario, Step } from './scenario.ts'
import type { RunContext, StepContext, StepObservation } from './step-context.ts'
import type { StepResult } from './tables.ts'

/** Whoever does the steps of one run. */
interface Actor<S> {
  /** Does a step; `index` 1 is the first. Throws what keeps it from being done. */
  play(step: S, index: number): Promise<StepObservation>
}

/** Runs the steps of a scenario one after the other, telling of each. Throws what keeps a step from being run. */
export const runSteps = async (
  context: StepContext,
  run: RunContext,
  scenario: Scenario,
): Promise<readonly StepResult[]> => {
  if (scenario.kind === 'model') {
    await setRules(context.administration, run.names.project_id, scenario.rules ?? defaultRules)
    await using actor = modelActor(context, run)
    return await playAll(context, run, scenario.steps, actor)
  }
  await using actor = await mcpActor(context.gateway, run, scenario)
  return await playAll(context, run, scenario.steps, actor)
}

const playAll = async <S extends Step>(
  { gateway: { clock } }: StepContext,
  run: RunContext,
  steps: readonly S[],
  actor: Actor<S>,
): Promise<readonly StepResult[]> => {
  const results: StepResult[] = []
  let sessionId: string | null = null
  for (const [place, step] of steps.entries()) {
    if (place > 0) await run.between()
    const began = clock.tick()
    const seen = await actor.play(step, place + 1)
    sessionId = seen.session_id ?? sessionId
    results.push(resultOf(step, place + 1, run, seen, clock.tick() - began))
    await run.progress([...results], sessionId)
  }
  return results
}

const resultOf = (
  step: Step,
  index: number,
  { mode }: RunContext,
  seen: StepObservation,
  duration: number,
): StepResult => {
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
