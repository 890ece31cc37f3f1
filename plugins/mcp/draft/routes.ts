import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { rejectUnknownFilters } from 'guard-gateway/lib/errors'
import { Type } from 'guard-gateway/lib/json'
import { oneOf, since } from '../management/schema-parts.ts'
import type { Mcp } from '../mcp.ts'

const draftQuery = Type.Object({
  server_id: Type.Optional(
    Type.String({ description: 'Of this server; absent: of every one whose tools are on record.' }),
  ),
  since: Type.Optional(since),
  format: Type.Optional(oneOf(['json', 'yaml'], { description: 'yaml: the policy alone, as a file; json if absent.' })),
})

const draftAnswer = Type.Object({
  yaml: Type.String({ description: 'The policy, with comments; it passes its own tests.' }),
  rules: Type.Integer({ minimum: 0, description: 'How many rules it has.' }),
  tests: Type.Integer({ minimum: 0, description: 'How many tests of its own it passes.' }),
  tools: Type.Integer({ minimum: 0, description: 'Tools that its rules are about.' }),
})

/** Drafts of policies, below `/api/v1/mcp`. Nothing of them is put into force. */
export const draftRoutes =
  (mcp: Mcp): FastifyPluginAsyncTypebox =>
  async (app) => {
    const draft = {
      summary: 'Draft a policy from the tools of servers and the calls on record',
      tags: ['mcp'],
      querystring: draftQuery,
      response: {
        200: {
          description: 'The draft with what it holds, or as a file.',
          content: { 'application/json': { schema: draftAnswer }, 'application/yaml': { schema: Type.String() } },
        },
      },
    }
    app.get('/draft', { schema: draft }, async ({ query: { format, ...query } }, reply) => {
      rejectUnknownFilters(query, draftQuery)
      const { draftOfRecord } = await import('./draft-of-record.ts')
      const made = await draftOfRecord(mcp, query)
      if (format !== 'yaml') return made
      return reply
        .type('application/yaml; charset=utf-8')
        .header('content-disposition', 'attachment; filename="mcp-policy.yml"')
        .send(made.yaml)
    })
  }
