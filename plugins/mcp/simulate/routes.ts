import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Static } from 'typebox'
import { Type } from '#lib/json'
import { oneOf, since, text, textOrNull, time } from '../management/schema-parts.ts'
import type { Mcp } from '../mcp.ts'
import type { PolicySimulation } from './simulate-policy.ts'
import type { SimulatedGroup } from './simulation.ts'

const actions = ['allow', 'shadow_deny', 'transform', 'confirm', 'rate_limit', 'deny'] as const

const group = Type.Object({
  server_id: text,
  tool: text,
  was: oneOf(actions, { description: 'What the policy in force said.' }),
  would_be: Type.Array(oneOf(actions), {
    description: 'What the other one says; several where it depends on arguments that are not on record.',
  }),
  was_rule_ids: Type.Array(text, { description: 'The rules that said so.' }),
  rule_ids: Type.Array(text, { description: 'The rules of the other one that say so, or may.' }),
  calls: Type.Integer({ minimum: 0, description: 'Calls of which this holds.' }),
  forwarded: Type.Integer({ minimum: 0, description: 'Calls of these that were let through.' }),
  redacted: Type.Integer({
    minimum: 0,
    description: 'Calls of these whose arguments are on record, but not all of them.',
  }),
  examples: Type.Array(Type.Object({ id: text, time, trace_id: textOrNull, span_id: textOrNull }), {
    description: 'The newest of these calls.',
  }),
})

export const simulationAnswer = Type.Object({
  policy_version: text,
  mode: oneOf(['enforce', 'shadow']),
  calls: Type.Integer({ minimum: 0, description: 'Calls that a policy has judged, and that were judged anew.' }),
  unjudged: Type.Integer({ minimum: 0, description: 'Calls that no policy has judged: invalid, refused, paused.' }),
  same: Type.Integer({ minimum: 0, description: 'Calls of which the same would be said.' }),
  differ: Type.Integer({ minimum: 0, description: 'Calls of which something else would be said for sure.' }),
  stricter: Type.Integer({ minimum: 0, description: 'Of those: something stricter.' }),
  looser: Type.Integer({ minimum: 0, description: 'Of those: something looser.' }),
  depends: Type.Integer({ minimum: 0, description: 'Calls of which it depends on arguments that are not on record.' }),
  failed_tests: Type.Integer({
    minimum: 0,
    description: 'Tests of the policy that fail: it could not come into force.',
  }),
  truncated: Type.Boolean({ description: 'Only the newest calls were looked at.' }),
  changes: Type.Array(group, { description: 'What differs, the most calls first.' }),
  unknown: Type.Array(group, { description: 'What depends on arguments that are not on record.' }),
})
export type SimulationView = Static<typeof simulationAnswer>

const MAX_BODY = 2_097_152

const simulationBody = Type.Object(
  {
    yaml: Type.String({ description: 'The policy, YAML or JSON.' }),
    server_id: Type.Optional(text),
    tool: Type.Optional(text),
    since: Type.Optional(since),
  },
  {
    additionalProperties: false,
    examples: [{ yaml: 'version: 1\ndefault: confirm\nrules: []\n', since: '7d' }],
  },
)

/** A simulation as the API gives it. */
export const simulationView = (found: PolicySimulation): SimulationView => ({
  ...found,
  changes: found.changes.map(groupView),
  unknown: found.unknown.map(groupView),
})

const groupView = ({ examples, would_be, was_rule_ids, rule_ids, ...rest }: SimulatedGroup) => ({
  ...rest,
  would_be: [...would_be],
  was_rule_ids: [...was_rule_ids],
  rule_ids: [...rule_ids],
  examples: examples.map(({ at, ...call }) => ({ ...call, time: new Date(at).toISOString() })),
})

/** Simulation of a policy, below `/api/v1/mcp`. Nothing of it is put into force. */
export const simulationRoutes =
  (mcp: Mcp): FastifyPluginAsyncTypebox =>
  async (app) => {
    const schema = {
      summary: 'Say what a policy would have said of the calls on record',
      tags: ['mcp'],
      body: simulationBody,
      response: { 200: simulationAnswer },
    }
    app.post('/policies/simulate', { schema, bodyLimit: MAX_BODY }, async ({ body: { yaml, ...filters } }) => {
      const { simulatePolicy } = await import('./simulate-policy.ts')
      return simulationView(await simulatePolicy(mcp, { text: yaml }, filters))
    })
  }
