import type { FastifyReply, FastifyRequest } from 'fastify'

const preflight = {
  'access-control-allow-methods': 'GET, POST, DELETE',
  'access-control-allow-headers':
    'authorization, content-type, accept, last-event-id, mcp-session-id, mcp-protocol-version, x-api-key, x-guard-key',
  'access-control-max-age': '600',
}

/** Headers by which a web page may read the answer. Its origin has been judged before. */
export const corsHeaders = ({ headers: { origin } }: FastifyRequest): Readonly<Record<string, string>> =>
  origin === undefined
    ? {}
    : { 'access-control-allow-origin': origin, 'access-control-expose-headers': 'mcp-session-id', vary: 'origin' }

/** Answers a CORS preflight request. */
export const answerPreflight = (request: FastifyRequest, reply: FastifyReply): void => {
  const preflightHeaders = request.headers.origin === undefined ? {} : preflight
  reply
    .code(204)
    .headers({ allow: 'GET, POST, DELETE', ...corsHeaders(request), ...preflightHeaders })
    .send()
}
