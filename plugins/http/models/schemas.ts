import type { FastifySchema } from 'fastify'
import type { ApiStyle } from 'guard-gateway/core'
import { Type } from 'guard-gateway/lib/json'
import type { TSchema } from 'typebox'

const open = { additionalProperties: true }
const correlation = Type.Object({
  'x-guard-project-id': Type.Optional(Type.String({ description: 'The project that the request counts for.' })),
  'x-guard-session-id': Type.Optional(Type.String({ description: 'The session, by an id of your own or of ours.' })),
  'x-guard-agent-id': Type.Optional(Type.String({ description: 'The agent that sends it.' })),
  'x-client-session-id': Type.Optional(Type.String({ description: 'The session where x-guard-session-id is absent.' })),
  'x-guard-mode': Type.Optional(
    Type.String({ enum: ['shadow', 'enforce'], description: 'Heard only with server.allow_mode_header.' }),
  ),
})

const blocked = Type.Object({
  error: Type.Object(
    {
      type: Type.Literal('guard_block'),
      code: Type.String({ description: 'The reason: LOOP_EXACT, LIMIT_TOKENS, PAUSED_SESSION and so on.' }),
      message: Type.String(),
      session_id: Type.String(),
      rule_id: Type.String({ description: 'Empty where no rule refuses: a pause.' }),
    },
    open,
  ),
})

const answer = (description: string, content: Readonly<Record<string, TSchema>>) => ({
  description,
  content: Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }])),
})

const anyObject = Type.Object({}, { ...open, description: 'The form of the upstream.' })

/** Describes a model request: what the rules read of it. The request is forwarded as it came, whatever else is in it. */
export const modelSchema = ({ id, list }: ApiStyle): FastifySchema => ({
  headers: correlation,
  body: Type.Object(
    {
      model: Type.String(),
      [list]: Type.Union([Type.String(), Type.Array(anyObject)], { description: 'The conversation.' }),
      stream: Type.Optional(Type.Boolean()),
    },
    { ...open, examples: [exampleOf(id, list)] },
  ),
  response: {
    200: answer('The reply of the upstream, untouched, with x-guard-request-id and x-guard-decision.', {
      'application/json': anyObject,
      'text/event-stream': Type.String(),
    }),
    409: answer('The session or the agent is paused.', { 'application/json': blocked }),
    429: answer('A rule in mode enforce blocks, in the error form of the dialect.', { 'application/json': blocked }),
  },
})

/** Only one style wants a limit of the reply's tokens, and others refuse what they do not know by this name. */
const exampleOf = (style: string, list: string): object => ({
  model: 'small-model',
  [list]: [{ role: 'user', content: 'Hello' }],
  ...(style === 'messages' ? { max_tokens: 64 } : {}),
})

/** Schema of a request that passes to the upstream without rules. */
export const passthroughSchema = (body?: TSchema): FastifySchema => ({
  ...(body === undefined ? {} : { body }),
  response: { 200: answer('The answer of the upstream.', { 'application/json': anyObject }) },
})

/** A body of any form. */
export const anyBody = Type.Object({}, { ...open, examples: [{ model: 'small-model' }] })

/** A request whose tokens are to be counted. */
export const countBody = Type.Object(
  { model: Type.String(), messages: Type.Array(anyObject) },
  { ...open, examples: [{ model: 'small-model', messages: [{ role: 'user', content: 'Hello' }] }] },
)
