import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { errorFrame, type Gateway, GuardError, statusOf } from 'guard-gateway/core'

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
  (gateway: Gateway, frame_bytes: number) =>
  (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const error = asGuardError(thrown, frame_bytes)
    if (error.code === 'INTERNAL') gateway.fault(thrown, 'mcp:http')
    reply.code(statusOf(error)).headers(error.place.headers ?? {})
    reply.header('x-guard-request-id', request.id).type('application/json')
    reply.send(errorFrame(undefined, numberOf(error.code), error.message, { type: 'mcp_error', code: error.code }))
  }

const asGuardError = (error: unknown, frame_bytes: number): GuardError => {
  if (error instanceof GuardError) return error
  const { code } = error as Partial<FastifyError>
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new GuardError('BODY_TOO_LARGE', `The message is larger than ${frame_bytes} bytes (mcp.limits.frame_bytes).`)
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH') return new GuardError('INVALID_BODY')
  return new GuardError('INTERNAL', undefined, { cause: error })
}
