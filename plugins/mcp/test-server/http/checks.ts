import type { IncomingMessage } from 'node:http'
import { speaks } from '../methods.ts'

/** Why a request is refused: HTTP status and words. */
export interface Refused {
  readonly status: number
  readonly message: string
}

const LOCAL = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i

const isLocal = ({ headers: { host = '', origin } }: IncomingMessage): boolean =>
  LOCAL.test(host) && (origin === undefined || LOCAL.test(origin.replace(/^https?:\/\//, '')))

const accepts = ({ headers: { accept = '' } }: IncomingMessage, ...types: readonly string[]): boolean =>
  accept.includes('*/*') || types.every((type) => accept.includes(type))

/** What is wrong with the head of a request; undefined if nothing. */
export const checkHead = (request: IncomingMessage): Refused | undefined => {
  const { method, headers } = request
  if (!isLocal(request)) return { status: 403, message: 'Only this machine is served.' }
  if (method === 'POST' && !headers['content-type']?.startsWith('application/json'))
    return { status: 415, message: 'A message is application/json.' }
  if (method === 'POST' && !accepts(request, 'application/json', 'text/event-stream'))
    return { status: 406, message: 'Accept must name application/json and text/event-stream.' }
  if (method === 'GET' && !accepts(request, 'text/event-stream'))
    return { status: 406, message: 'Accept must name text/event-stream.' }
  const version = headers['mcp-protocol-version']
  if (version !== undefined && !speaks(String(version)))
    return { status: 400, message: 'This revision of MCP is not spoken.' }
  return undefined
}
