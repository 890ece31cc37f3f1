import type { Static } from 'typebox'
import { Type } from '#lib/json'

const textOrNull = Type.Union([Type.String(), Type.Null()])
const time = Type.String({ format: 'date-time' })
const timeOrNull = Type.Union([time, Type.Null()])
const countOrNull = Type.Union([Type.Integer({ minimum: 0 }), Type.Null()])
const mode = Type.Unsafe<'shadow' | 'enforce'>({ type: 'string', enum: ['shadow', 'enforce'] })
const status = Type.Union([
  Type.Literal('queued'),
  Type.Literal('running'),
  Type.Literal('completed'),
  Type.Literal('failed'),
  Type.Literal('cancelled'),
])

/** Slowest a run can be watched: a wait of two seconds between steps. */
const MAX_PACE_MS = 2000

const outcome = Type.Object(
  {
    decision: Type.Optional(Type.Union([Type.Literal('allow'), Type.Literal('shadow_flag'), Type.Literal('block')])),
    reason: Type.Optional(Type.String()),
    status: Type.Optional(Type.Integer()),
    outcome: Type.Optional(
      Type.String({ description: 'How the exchange ends on record; of an MCP call, for its client.' }),
    ),
    action: Type.Optional(Type.String({ description: 'What the MCP policy says of a call.' })),
    forwarded: Type.Optional(Type.Boolean({ description: 'The call goes to the MCP server.' })),
    total_tokens: Type.Optional(Type.Integer()),
    broken: Type.Optional(Type.Boolean({ description: 'The answer breaks off.' })),
    sees: Type.Optional(Type.String({ description: 'Text in the answer.' })),
    lacks: Type.Optional(Type.String({ description: 'Text that is not in the answer.' })),
  },
  { description: 'What is left out may be anything, but reason must be absent and the answer whole.' },
)

/** A scenario as the API lists it. */
export const scenarioSchema = Type.Object({
  id: Type.String(),
  title: Type.String(),
  summary: Type.String(),
  kind: Type.Union([Type.Literal('model'), Type.Literal('mcp')]),
  styles: Type.Array(Type.String(), {
    description: 'API styles to choose from, the default first; none: there is nothing to choose.',
  }),
  modes: Type.Array(mode),
  step_count: Type.Integer(),
  steps: Type.Array(Type.Object({ what: Type.String(), expect: Type.Object({ shadow: outcome, enforce: outcome }) })),
})

export const scenariosAnswer = Type.Object({ scenarios: Type.Array(scenarioSchema) })

const summary = {
  id: Type.String(),
  scenario_id: Type.String(),
  mode,
  style: textOrNull,
  pace_ms: Type.Integer(),
  status,
  matched: Type.Union([Type.Boolean(), Type.Null()], {
    description: 'Every step met its expectation; null until all have run.',
  }),
  step_count: Type.Integer(),
  steps_done: Type.Integer(),
  error: Type.Union([Type.Object({ code: Type.String(), message: Type.String() }), Type.Null()]),
  project_id: Type.String(),
  agent_id: Type.String(),
  session_id: Type.Union([Type.String(), Type.Null()], {
    description: 'See /api/sessions/{id}; null until a request of a model.',
  }),
  trace_ids: Type.Array(Type.String(), { description: 'Where the run stands in Replay.' }),
  replay_url: Type.Union([Type.String(), Type.Null()], {
    description: 'The page of Replay that shows it, as a path; null until a step is on record.',
  }),
  created_at: time,
  started_at: timeOrNull,
  ended_at: timeOrNull,
}

const stepResult = Type.Object({
  index: Type.Integer({ minimum: 1 }),
  what: Type.String(),
  do: Type.String(),
  decision: textOrNull,
  reason: textOrNull,
  action: Type.Union([Type.String(), Type.Null()], { description: 'What the MCP policy said of a call.' }),
  forwarded: Type.Union([Type.Boolean(), Type.Null()], {
    description: 'The call went to the MCP server; null for what is no call.',
  }),
  http_status: Type.Union([Type.Integer(), Type.Null()], { description: 'Null for a step of the MCP proxy.' }),
  rule_id: textOrNull,
  request_id: textOrNull,
  approval_id: textOrNull,
  trace_id: textOrNull,
  span_id: textOrNull,
  repeats: Type.Union([Type.String(), Type.Null()], {
    description: 'The earlier blocked request on whose record this one is counted.',
  }),
  outcome: textOrNull,
  total_tokens: countOrNull,
  broken: Type.Boolean({ description: 'The answer broke off.' }),
  expected: outcome,
  matched: Type.Boolean(),
  missed: Type.Array(Type.String(), { description: 'Expectations that were not met.' }),
  duration_ms: Type.Integer(),
})

/** A run as the API gives it. */
export const runSchema = Type.Object({ ...summary, steps: Type.Array(stepResult) })
export type RunView = Static<typeof runSchema>

/** A run in a list: without its steps. */
const runSummary = Type.Object(summary)
export type RunSummary = Static<typeof runSummary>

export const runsPage = Type.Object({
  runs: Type.Array(runSummary),
  next_cursor: textOrNull,
  truncated: Type.Boolean({ description: 'The page ended early; the cursor goes on.' }),
})

export const runsQuery = Type.Object({
  scenario_id: Type.Optional(Type.String()),
  status: Type.Optional(status),
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
  cursor: Type.Optional(Type.String()),
})

export const runParams = Type.Object({ id: Type.String() })

/** A body with members that mean nothing is refused. */
const closed = { additionalProperties: false }

export const newRun = Type.Object(
  {
    scenario: Type.Optional(Type.String({ description: 'Id of the scenario; needed, unless scenario_id tells it.' })),
    scenario_id: Type.Optional(Type.String({ description: 'The same, by its longer name.' })),
    mode: Type.Optional(mode),
    style: Type.Optional(Type.String({ description: 'API style of the requests.' })),
    pace_ms: Type.Optional(
      Type.Integer({ minimum: 0, maximum: MAX_PACE_MS, description: 'Wait between steps, for watching.' }),
    ),
  },
  { ...closed, examples: [{ scenario: 'exact-loop', mode: 'enforce' }] },
)

const demo = Type.Object(
  {
    scenario: Type.Optional(Type.String({ description: 'exact-loop if absent.' })),
    scenario_id: Type.Optional(Type.String({ description: 'The same, by its longer name.' })),
    mode: Type.Optional(mode),
  },
  closed,
)
/** A demo needs no body. */
export const demoBody = Type.Union([Type.Null(), demo], { examples: [{ scenario: 'exact-loop', mode: 'enforce' }] })
