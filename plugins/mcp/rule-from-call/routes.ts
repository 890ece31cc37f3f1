import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Static } from 'typebox'
import { approverHeaders } from '#lib/approver'
import { rejectUnknownFilters } from '#lib/errors'
import { Type } from '#lib/json'
import { approvalParams } from '../management/approval-schemas.ts'
import { oneOf, textOrNull } from '../management/schema-parts.ts'
import type { Mcp } from '../mcp.ts'
import { simulationAnswer, simulationView } from '../simulate/routes.ts'
import { widths } from './likeness.ts'
import type { RuleProposal } from './rule-proposal.ts'

const width = oneOf(widths, {
  description:
    'How much like the call others must be; narrow: the same files, hosts and commands; wide: the same folder, domain, beginning of a command. narrow if absent.',
})

const ruleQuery = Type.Object({ width: Type.Optional(width) })

const ruleAnswer = Type.Object({
  width,
  rule_id: Type.String({ description: 'Id of the new rule.' }),
  yaml: Type.String({ description: 'The rule, as an element of the list of rules.' }),
  changes: Type.Array(Type.String(), { description: 'What else changes in the policy, in words.' }),
  stuck: Type.Array(Type.String(), { description: 'Why it cannot be written, or would not help.' }),
  file: Type.Union([Type.String(), Type.Null()], { description: 'The policy file; null where none is configured.' }),
  policy_version: textOrNull,
  after: Type.Union([Type.String(), Type.Null()], { description: 'The whole policy with the rule.' }),
  preview: Type.Union([simulationAnswer, Type.Null()], {
    description: 'What the changed policy would have said of calls of this tool on record.',
  }),
})
export type RuleView = Static<typeof ruleAnswer>

const ruleBody = Type.Object(
  {
    width: Type.Optional(width),
    policy_version: Type.Optional(
      Type.String({
        description: 'Of the policy that was shown: if it is another by now, nothing is written and the answer is 409.',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ width: 'narrow' }] },
)

const viewOf = ({ before: _before, preview, changes, stuck, ...rest }: RuleProposal): RuleView => {
  const simulated = preview === null ? null : simulationView(preview)
  return { ...rest, changes: [...changes], stuck: [...stuck], preview: simulated }
}

/** Rules made of calls that a person was asked about, below `/api/v1/mcp`. */
export const ruleRoutes =
  (mcp: Mcp): FastifyPluginAsyncTypebox =>
  async (app) => {
    const tags = ['mcp']
    const show = {
      summary: 'Make a policy rule of a call that waits or is allowed, with a preview',
      tags,
      params: approvalParams,
      querystring: ruleQuery,
      response: { 200: ruleAnswer },
    }
    app.get('/approvals/:id/rule', { schema: show }, async ({ params, query }) => {
      rejectUnknownFilters(query, ruleQuery)
      const { ruleProposal } = await import('./rule-proposal.ts')
      return viewOf(await ruleProposal(mcp, params.id, query.width ?? 'narrow'))
    })

    const write = {
      summary: 'Write that rule into the policy file',
      tags,
      headers: approverHeaders,
      params: approvalParams,
      body: ruleBody,
      response: { 200: ruleAnswer },
    }
    app.post('/approvals/:id/rule', { schema: write }, async ({ headers, params, body }) => {
      mcp.gateway.approver.checkHeaders(headers)
      const { writeRule } = await import('./write-rule.ts')
      return viewOf(await writeRule(mcp, params.id, body.width ?? 'narrow', body.policy_version))
    })
  }
