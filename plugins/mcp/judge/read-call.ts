import { memberIn, parseJson, sourceOf, stringIn } from 'guard-gateway/lib/json'
import type { Frame } from 'guard-gateway/lib/json-rpc'
import type { Arguments } from 'guard-gateway/lib/mcp-check'
import { type ClientResponse, errorResponse } from '../relay/response.ts'
import type { Session } from '../session/session.ts'
import type { ToolCall } from './tool-call.ts'

const MAX_TOOL = 128

/** Reads the call of a `tools/call`; gives a text that says what is wrong if there is none. */
export const readCall = ({ text, params }: Frame, session: Session, at: number): ToolCall | string => {
  const tool = stringIn(text, memberIn(params, 'name')?.value)
  if (tool === undefined || tool === '' || tool.length > MAX_TOOL)
    return `"name" must be a string of 1 to ${MAX_TOOL} characters.`
  const given = memberIn(params, 'arguments')?.value
  const source = given === undefined ? '{}' : sourceOf(text, given)
  if (source.charCodeAt(0) !== BRACE) return '"arguments" must be an object.'
  const args = parseJson(source) as Arguments
  const { id: session_id, server } = session
  const cwd = server.command === undefined ? undefined : (server.cwd ?? process.cwd())
  return {
    server_id: server.id,
    session_id,
    tool,
    arguments: args,
    text: source,
    cwd,
    at,
  }
}

const BRACE = 0x7b

/** The `traceparent` that a call has in its `_meta`; it takes precedence over that of the connection. */
export const traceparentOf = ({ text, params }: Frame): string | undefined =>
  stringIn(text, memberIn(memberIn(params, '_meta')?.value, 'traceparent')?.value)

/** Refuses a `tools/call` that cannot be read, and records the refusal. */
export const refusedCall = ({ log }: Session, { id = 'null' }: Frame, reason: string): ClientResponse => {
  log.event({ kind: 'refusal', name: 'call.refused', reason, request_id: id })
  return errorResponse(200, id, -32602, reason)
}
