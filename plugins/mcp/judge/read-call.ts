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
  const { id: session_id, server, caller } = session
  const cwd = server.command === undefined ? undefined : (server.cwd ?? process.cwd())
  return {
    server_id: server.id,
    session_id,
    tool,
    caller,
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

/** Names of the id that a model gave its call, in the `_meta` of a `tools/call`: Claude Code's, Codex's, and as others spell it. */
const CALL_IDS = [
  'claudecode/toolUseId',
  'callId',
  'gen_ai.tool.call.id',
  'toolCallId',
  'tool_call_id',
  'toolUseId',
  'tool_use_id',
  'call_id',
] as const
const ID_CHARS = 256

/** The id that the model gave the call, where its client passes it on: other records of the call have it too. */
export const toolCallIdOf = ({ text, params }: Frame): string | null => {
  const meta = memberIn(params, '_meta')?.value
  if (meta === undefined) return null
  for (const name of CALL_IDS) {
    const id = stringIn(text, memberIn(meta, name)?.value)
    if (id !== undefined && id !== '' && id.length <= ID_CHARS) return id
  }
  return null
}

/** Refuses a `tools/call` that cannot be read, and records the refusal. */
export const refusedCall = ({ log }: Session, { id = 'null' }: Frame, reason: string): ClientResponse => {
  log.event({ kind: 'refusal', name: 'call.refused', reason, request_id: id })
  return errorResponse(200, id, -32602, reason)
}
