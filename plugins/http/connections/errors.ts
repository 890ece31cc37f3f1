import type { Socket } from 'node:net'
import { type ErrorCode, errorBody, type Gateway, GuardError } from 'guard-gateway/core'
import { newId } from '#lib/ids'
import { httpErrors } from '../error-codes.ts'

const codes = new Map<string, ErrorCode>([
  ['HPE_HEADER_OVERFLOW', httpErrors.HEADERS_TOO_LARGE],
  ['ERR_HTTP_REQUEST_TIMEOUT', httpErrors.REQUEST_TIMEOUT],
])
const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

/** Answers bytes that never became a request, and ends the connection. */
export const connectionErrors =
  (gateway: Gateway) =>
  (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (isOfTls(error) || error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0)
      return void socket.destroy()
    socket.end(
      rawResponse(gateway, new GuardError(codes.get(error.code ?? '') ?? httpErrors.MALFORMED_REQUEST), 'close'),
    )
  }

/** No handshake came about, so that nothing can be said. */
const isOfTls = ({ code = '' }: NodeJS.ErrnoException): boolean => /^ERR_(?:SSL|TLS|OSSL)_/.test(code)

/** A whole HTTP response as text, for a connection that has no `ServerResponse`. */
export const rawResponse = (gateway: Gateway, error: GuardError, connection: string): string => {
  const body = JSON.stringify({ error: errorBody(error) })
  const head = [
    `HTTP/1.1 ${error.status} ${reasons[error.status] ?? 'Error'}`,
    `connection: ${connection}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-guard-request-id: ${newId('guardreq_', gateway.clock.now())}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
