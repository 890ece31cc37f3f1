import type { IncomingMessage } from 'node:http'
import type { HttpServerState } from '../http-server-state.ts'

/** Remembers a request as it came, and gives what puts it back: a host application reads its own requests unchanged. */
export const restorer = (state: HttpServerState, request: IncomingMessage & { originalUrl?: string }): (() => void) => {
  const { url = '', originalUrl, headers, rawHeaders } = request
  const path = () => {
    request.url = url
    if (originalUrl !== undefined) request.originalUrl = originalUrl
  }
  // an absolute form replaces the host, a trusted proxy's headers are taken out
  if (url.startsWith('/') && state.authProxy === undefined) return path
  const [given, raw] = [{ ...headers }, [...rawHeaders]]
  return () => {
    path()
    Object.assign(headers, given)
    rawHeaders.splice(0, rawHeaders.length, ...raw)
  }
}
