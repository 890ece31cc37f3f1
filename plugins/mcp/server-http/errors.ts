import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Gateway, GuardError, isFault, statusOf } from 'guard-gateway/core'
import { requestErrors } from '#lib/http'
import { errorFrame } from '#lib/json-rpc'

const SERVER_ERROR = -32000
/** Who or what was asked for is not known: the caller, the server, the session. */
const UNKNOWN = -32001

const numbers = new Map<string, number>([
  ['UNAUTHORIZED', UNKNOWN],
  ['MCP_SERVER_NOT_FOUND', UNKNOWN],
  ['MCP_SESSION_NOT_FOUND', UNKNOWN],
  ['INTERNAL', -32603],
])

/** The JSON-RPC number of one of the catalogue's errors. */
export const numberOf = (code: string): number => numbers.get(code) ?? SERVER_ERROR

/** Answers whatever goes wrong before a message is read, as a JSON-RPC error without id. */
export const transportError =
  (gateway: Gateway) =>
  (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const error = thrown instanceof GuardError ? thrown : new GuardError('INTERNAL', undefined, { cause: thrown })
    requestErrors.set(request.raw, error)
    if (isFault(error)) gateway.fault(thrown, 'mcp:http')
    reply.code(statusOf(error)).headers(error.place.headers ?? {})
    reply.header('x-guard-request-id', request.id).type('application/json')
    reply.send(errorFrame(undefined, numberOf(error.code), error.message, { type: 'mcp_error', code: error.code }))
  }
