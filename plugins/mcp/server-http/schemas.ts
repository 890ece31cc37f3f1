import type { FastifySchema } from 'fastify'
import { Type } from 'guard-gateway/lib/json'

const params = Type.Object({ server_id: Type.String({ description: 'The id of a configured MCP server.' }) })
const session = Type.Object({
  'mcp-session-id': Type.Optional(Type.String({ description: 'From the answer to initialize; all else needs it.' })),
  'mcp-protocol-version': Type.Optional(Type.String()),
})
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'docs', version: '1' } },
}
const frame = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
    method: Type.Optional(Type.String()),
    params: Type.Optional(Type.Object({}, { additionalProperties: true })),
  },
  { additionalProperties: true, examples: [initialize] },
)
const events = { 'text/event-stream': { schema: Type.String({ description: 'Server-sent events, a frame each.' }) } }

type Described = FastifySchema & { readonly summary: string; readonly tags: readonly string[] }

const described = (summary: string, more: FastifySchema): Described => ({
  summary,
  tags: ['mcp'],
  params,
  headers: session,
  ...more,
})

/** What the API description says of the transport, by method. */
export const transportSchemas: Readonly<Record<'POST' | 'GET' | 'DELETE', Described>> = {
  POST: described('Send one JSON-RPC frame to an MCP server, through the policy', {
    body: frame,
    response: {
      200: {
        description: 'The answer to a request.',
        content: { 'application/json': { schema: frame }, ...events },
      },
      202: { description: 'A notification or an answer was taken.', type: 'null' },
    },
  }),
  GET: described('Listen to what an MCP server sends of itself', {
    response: { 200: { description: 'Frames until either side ends.', content: events } },
  }),
  DELETE: described('End an MCP session, here and at the server', {
    response: { 200: { description: 'The session is over.', type: 'null' } },
  }),
}
