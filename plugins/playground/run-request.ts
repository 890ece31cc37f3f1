import { type Gateway, GuardError, type Mode } from 'guard-gateway/core'
import { newId, writer } from '#lib/ids'
import { stylesOf } from './dialects/index.ts'
import { playgroundErrors } from './error-codes.ts'
import { namesOf } from './names.ts'
import { isBound, type Scenario, scenariosOf } from './scenario.ts'
import type { PlaygroundRun } from './tables.ts'

/** The request for a new run. */
export interface RunRequest {
  readonly scenario: string
  readonly mode: Mode
  readonly style?: string
  /** Wait between steps, milliseconds. */
  readonly pace_ms: number
}

/** The scenario of this id. Throws SCENARIO_NOT_FOUND naming what there is. */
export const scenarioOf = (gateway: Gateway, id: string): Scenario => {
  const registry = scenariosOf(gateway)
  const found = registry.get(id)
  if (found !== undefined) return found
  const known = registry.ids()
  throw new GuardError(
    playgroundErrors.SCENARIO_NOT_FOUND,
    `There is no scenario "${id}"; there is ${known.join(', ')}.`,
    { known },
  )
}

/** API styles that a run of the scenario can be started in; none if its requests have their own. */
export const choicesOf = (gateway: Gateway, scenario: Scenario): readonly string[] =>
  isBound(scenario) ? [] : stylesOf(gateway)

/** A queued run. Throws INVALID_REQUEST for a style that the scenario cannot be run in. */
export const queuedRun = (
  gateway: Gateway,
  scenario: Scenario,
  { mode, style, pace_ms }: RunRequest,
): PlaygroundRun => {
  const created_at = gateway.clock.now()
  const id = newId('play_', created_at)
  const { project_id, agent_id } = namesOf(scenario, id)
  return {
    id,
    scenario_id: scenario.id,
    mode,
    style: styleFor(scenario, choicesOf(gateway, scenario), style),
    pace_ms,
    status: 'queued',
    matched: null,
    step_count: scenario.steps.length,
    steps_done: 0,
    steps: [],
    error: null,
    project_id,
    agent_id,
    session_id: null,
    process: writer,
    created_at,
    started_at: null,
    ended_at: null,
  }
}

const styleFor = (scenario: Scenario, known: readonly string[], requested: string | undefined): string | null => {
  if (requested === undefined || known.includes(requested)) return requested ?? known[0] ?? null
  const choice = isBound(scenario)
    ? 'it has no request whose style could be chosen, so leave style out'
    : `there is ${known.join(', ')}`
  throw new GuardError(
    'INVALID_REQUEST',
    `Scenario "${scenario.id}" cannot be run in style "${requested}"; ${choice}.`,
    {
      path: '/style',
      known,
    },
  )
}
