import { type Arguments, type Frame, memberIn, sourceOf, stringIn } from 'guard-gateway/core'
import { type Answer, refusal } from './answer.ts'
import type { Session } from './session.ts'
import type { ToolCall } from './tool-call.ts'

const INVALID_PARAMS = -32602
const MAX_TOOL = 128

/** The call that a `tools/call` makes, or why it makes none. */
export const callIn = (frame: Frame, session: Session, at: number): ToolCall | (Answer & { form: 'json' }) => {
  const { text, params, id } = frame
  const refuse = (message: string) => refusal(200, id, INVALID_PARAMS, message)
  const tool = stringIn(text, memberIn(params, 'name')?.value)
  if (tool === undefined || tool === '' || tool.length > MAX_TOOL)
    return refuse(`"name" must be a string of 1 to ${MAX_TOOL} characters.`)
  const given = memberIn(params, 'arguments')?.value
  const source = given === undefined ? '{}' : sourceOf(text, given)
  if (source.charCodeAt(0) !== BRACE) return refuse('"arguments" must be an object.')
  const args = JSON.parse(source) as Arguments
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
