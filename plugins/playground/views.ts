import type { Gateway } from 'guard-gateway/core'
import type { Static } from 'typebox'
import { choicesOf } from './run-request.ts'
import type { Scenario } from './scenario.ts'
import type { RunSummary, RunView, scenarioSchema } from './schemas.ts'
import type { PlaygroundRun } from './tables.ts'

/** A scenario for people and programs: what its steps are about and what must come of them. */
export const scenarioView = (gateway: Gateway, scenario: Scenario): Static<typeof scenarioSchema> => {
  const { id, title, summary, kind, steps } = scenario
  return {
    id,
    title,
    summary,
    kind,
    styles: [...choicesOf(gateway, scenario)],
    modes: ['shadow', 'enforce'],
    step_count: steps.length,
    steps: steps.map(({ what, expect }) => ({ what, expect })),
  }
}

/** A run with its times as RFC 3339 in UTC. */
export const runView = (run: PlaygroundRun): RunView => ({
  ...runSummary(run),
  steps: run.steps.map((step) => ({ ...step, missed: [...step.missed] })),
})

/** The same without its steps. */
export const runSummary = ({ steps, ...run }: PlaygroundRun): RunSummary => ({
  ...run,
  ...stepPath(run, steps),
  created_at: time(run.created_at),
  started_at: timeOrNull(run.started_at),
  ended_at: timeOrNull(run.ended_at),
})

/** Where a run is to be seen in Replay: its trace, or its session where it has several. */
const stepPath = (
  { session_id }: Pick<PlaygroundRun, 'session_id'>,
  steps: PlaygroundRun['steps'],
): Pick<RunSummary, 'trace_ids' | 'replay_url'> => {
  const trace_ids = [...new Set(steps.flatMap(({ trace_id }) => trace_id ?? []))]
  const [only] = trace_ids
  if (only === undefined) return { trace_ids, replay_url: null }
  const several = trace_ids.length > 1 && session_id !== null
  return { trace_ids, replay_url: several ? `/replay?session_id=${session_id}` : `/replay/${only}` }
}

const time = (at: number): string => new Date(at).toISOString()
const timeOrNull = (at: number | null): string | null => (at === null ? null : time(at))
