import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Gateway, Mode, Rule } from 'guard-gateway/core'
import { Type } from '#lib/json'
import type { Calendar } from '#lib/time'
import type { Policies } from '../policies.ts'
import { projectOf } from '../routes.ts'
import { PolicyShape, ProjectParams, RuleList } from '../schemas.ts'
import { simulate } from './index.ts'
import { readSimulation } from './request.ts'

/** Trying rules on what a project did, below `/api`. */
export const simulationRoutes =
  (
    gateway: Gateway,
    policies: Policies,
    presets: Readonly<Record<string, readonly Rule[]>>,
    defaultMode: () => Mode,
    calendar: Calendar,
  ): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/policies/:project_id/simulate',
      {
        // The schema describes; the document is checked where every wrong field gets its own words.
        validatorCompiler: () => () => true,
        schema: {
          summary:
            'Say what rules would have done to the stored sessions of a project, or with `default` of all without a policy of their own',
          tags: ['policies'],
          params: ProjectParams,
          body: SimulationInput,
          response: { 200: SimulationAnswer },
        },
      },
      async ({ params, body }) => {
        const project = projectOf(params, gateway)
        const request = await readSimulation(
          body,
          project,
          await policies.load(project),
          gateway,
          presets,
          defaultMode(),
        )
        const { flagged, rules, not_simulated, ...rest } = await simulate(gateway, calendar, request)
        return { ...rest, flagged: [...flagged], rules: [...rules], not_simulated: [...not_simulated] }
      },
    )
  }

const Time = Type.Union([Type.Integer(), Type.String()], {
  description: 'Milliseconds since 1970, a time like 2026-01-31T12:00:00Z, an age like 24h, today or yesterday',
})

const Range = {
  since: Type.Optional(Time),
  until: Type.Optional(Time),
  session_ids: Type.Optional(
    Type.Array(Type.String(), { maxItems: 1000, description: 'Ids of sessions, or their external ids' }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, description: 'The most sessions, newest first; 200 if not said' }),
  ),
}

/** A policy document, and which stored sessions to try it on; nothing tries the policy in force. */
const SimulationInput = Type.Union(
  [Type.Null(), Type.Object({ ...PolicyShape, ...Range }, { additionalProperties: false }), RuleList],
  { examples: [{ mode: 'enforce', since: '24h' }] },
)

const Afterwards = {
  requests_after: Type.Integer({ description: 'Behind that request' }),
  tokens_after: Type.Integer(),
  cost_after_micro: Type.Integer({ description: 'Millionths of the billing currency' }),
}

const Flagged = Type.Object({
  session_id: Type.String(),
  decision: Type.Union([Type.Literal('block'), Type.Literal('shadow_flag')]),
  first_request_id: Type.String(),
  at: Type.Integer({ description: 'Milliseconds since 1970' }),
  step: Type.Integer({ description: 'The number of the request in its session, from 1' }),
  code: Type.String(),
  rule_id: Type.String(),
  message: Type.String(),
  count: Type.Union([Type.Integer(), Type.Null()]),
  results_equal: Type.Union([Type.Boolean(), Type.Null()], {
    description: 'False: the repeated calls had differing results',
  }),
  ...Afterwards,
})

const RuleTotal = Type.Object({
  rule_id: Type.String(),
  rule_type: Type.String(),
  code: Type.String(),
  sessions: Type.Integer({ description: 'In which it would have spoken' }),
  share: Type.Number({ description: 'Of all sessions' }),
  differing_results: Type.Integer({ description: 'Sessions whose repeated calls had differing results' }),
  unseen_sessions: Type.Integer({ description: 'With requests that it could not look at, see not_simulated' }),
  ...Afterwards,
})

const NotSimulated = Type.Object({
  rule_id: Type.String(),
  reason: Type.Union([
    Type.Literal('no_detector'),
    Type.Literal('no_reply_text', { description: 'It listens to replies, whose texts are not stored' }),
    Type.Literal('no_measure', { description: 'No rule of its type was on then' }),
    Type.Literal('no_price'),
    Type.Literal('too_long_ago', {
      description: 'It looks beyond a session, at the newest requests of a project alone',
    }),
    Type.Literal('beyond_session', { description: 'It looks beyond a session, and the sessions come from files' }),
    Type.Literal('no_conversation', { description: 'The file is of traces without conversations' }),
    Type.Literal('steers', { description: 'It changes requests: what came after is not known' }),
  ]),
  sessions: Type.Integer({ description: 'With requests that it could not look at' }),
  requests: Type.Integer(),
  message: Type.String(),
})

/** What would have happened. */
const SimulationAnswer = Type.Object({
  project_id: Type.String(),
  mode: Type.Union([Type.Literal('shadow'), Type.Literal('enforce')]),
  sessions: Type.Integer(),
  requests: Type.Integer(),
  truncated: Type.Boolean({ description: 'A limit has left sessions or requests out' }),
  flagged: Type.Array(Flagged),
  rules: Type.Array(RuleTotal),
  not_simulated: Type.Array(NotSimulated, { description: 'Rules that are on and could not be tried on everything' }),
})
