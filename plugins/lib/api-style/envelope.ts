import type { Envelope, ErrorBody } from 'guard-gateway/core'
import { type JsonObject, jsonObjectOf, nonEmptyText } from '#lib/json'
import { genericCall, unlistedParts } from './parts.ts'

/** What all dialects call by the same names, the rest empty; a style spreads it and adds its own. */
export const commonEnvelope = (members: JsonObject, list: string): Envelope => {
  const call = genericCall(members)
  return {
    model: typeof members.model === 'string' ? members.model : '',
    stream: members.stream === true,
    max_tokens: tokenLimit(members.max_tokens),
    temperature: tokenLimit(members.temperature),
    before: unlistedParts(members[list]),
    after: call === undefined ? [] : [call],
    tools: members.tools,
    tool_choice: members.tool_choice,
    previous_response_id: null,
    conversation: null,
    ...(typeof members.store === 'boolean' ? { store: members.store } : {}),
    hints: hintsIn(members),
  }
}

/** The requested number, at least 0; null if there is none or it is invalid. */
export const tokenLimit = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null

/** The id of a stored conversation, given as text or as an object. */
export const conversationId = (members: JsonObject): string | null =>
  nonEmptyText(members.conversation) ?? nonEmptyText(jsonObjectOf(members.conversation).id)

const hintsIn = (members: JsonObject): Record<string, string> => {
  const hints: Record<string, string> = {}
  const note = (source: string, id: string | null): void => {
    if (id !== null) hints[source] = id
  }
  note('metadata.user_id', nonEmptyText(jsonObjectOf(members.metadata).user_id))
  note('prompt_cache_key', nonEmptyText(members.prompt_cache_key))
  note('conversation', conversationId(members))
  const { session_id, thread_id } = jsonObjectOf(members.client_metadata)
  note('client_metadata.session_id', nonEmptyText(session_id))
  note('client_metadata.thread_id', nonEmptyText(thread_id))
  return hints
}

/** The members of our errors that go out on model paths. */
export const errorFields = ({ type, code, message, session_id, rule_id, known, path }: ErrorBody): ErrorBody => ({
  type,
  code,
  message,
  ...(session_id === undefined ? {} : { session_id }),
  ...(rule_id === undefined ? {} : { rule_id }),
  ...(known === undefined ? {} : { known }),
  ...(path === undefined ? {} : { path }),
})
