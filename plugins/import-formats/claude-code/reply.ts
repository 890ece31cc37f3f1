import { totalled, type Usage } from 'guard-gateway/core'
import type { JsonObject } from 'guard-gateway/lib/json'
import {
  objectOf,
  objectsOf,
  type SessionCall,
  type SessionLine,
  type SessionReply,
  textOf,
  tokensOf,
} from 'guard-gateway/lib/otlp'
import { type ImportLocation, memberLocation } from 'guard-gateway/lib/trace-file'

/** A reply whose blocks are still being read: each has a line of its own, with the usage so far. */
export type OpenReply = { -readonly [K in keyof SessionReply]: SessionReply[K] } & {
  calls: SessionCall[]
  items: JsonObject[]
  /** Id of the message in the API, the same on all of its lines. */
  readonly message_id: string
}

/** Model of messages that Claude Code writes itself. */
const SYNTHETIC = '<synthetic>'

/** Starts a reply. Throws ImportFault. */
export const openReply = (
  { record, place }: SessionLine,
  thread: string,
  at_ns: bigint,
  started_ns: bigint,
): OpenReply => {
  const message = objectOf(record, 'message', place) ?? {}
  const at = memberLocation(place, 'message')
  const uuid = textOf(record, 'uuid', place) ?? `line ${place.line}`
  const model = textOf(message, 'model', at)
  const isOwn = model === SYNTHETIC
  const message_id = textOf(message, 'id', at)
  return {
    type: 'reply',
    thread,
    at_ns,
    line: place.line,
    id: uuid,
    message_id: message_id === undefined ? uuid : `${message_id} ${requestOf(record, place)}`,
    started_ns,
    response_id: isOwn ? undefined : message_id,
    requested_model: textOf(record, 'requestedModel', place),
    model: isOwn ? undefined : model,
    usage: undefined,
    cost: typeof record.costUSD === 'number' ? record.costUSD : undefined,
    calls: [],
    text: '',
    items: [{ role: 'assistant', content: [] }],
    ...(record.isApiErrorMessage === true ? { error: errorOf(record, message, place) } : {}),
  }
}

/** Messages of different requests have different ids; a proxy may have made up equal ones. */
const requestOf = (record: JsonObject, place: ImportLocation): string =>
  textOf(record, 'requestId', place) ?? textOf(record, 'requestRef', place) ?? ''

/** Adds what a line holds of a reply. Throws ImportFault. */
export const extend = (reply: OpenReply, { record, place }: SessionLine, at_ns: bigint): void => {
  const message = objectOf(record, 'message', place) ?? {}
  const at = memberLocation(place, 'message')
  const blocks = objectsOf(message, 'content', at)
  reply.usage = usageOf(message, at) ?? reply.usage
  reply.finish = textOf(message, 'stop_reason', at) ?? reply.finish
  reply.service_tier = tierOf(message, at) ?? reply.service_tier
  if (at_ns > reply.at_ns) reply.at_ns = at_ns
  reply.text += wordsIn(blocks)
  for (const { id, name, input } of blocks.filter(isCall))
    reply.calls.push({ id: String(id), tool: String(name), args: input, at_ns })
  if (reply.error !== undefined) return
  const known = reply.items[0]?.content
  reply.items = [{ role: 'assistant', content: [...(Array.isArray(known) ? known : []), ...blocks] }]
}

const wordsIn = (blocks: readonly JsonObject[]): string =>
  blocks.map(({ type, text }) => (type === 'text' && typeof text === 'string' ? text : '')).join('')

const isCall = ({ type, id, name }: JsonObject): boolean =>
  type === 'tool_use' && typeof id === 'string' && id !== '' && typeof name === 'string' && name !== ''

const usageOf = (message: JsonObject, place: ImportLocation): Usage | undefined => {
  const usage = objectOf(message, 'usage', place)
  if (usage === undefined || message.model === SYNTHETIC) return undefined
  const at = memberLocation(place, 'usage')
  const written = objectOf(usage, 'cache_creation', at) ?? {}
  const inside = memberLocation(at, 'cache_creation')
  const thinking = objectOf(usage, 'output_tokens_details', at) ?? {}
  return totalled({
    input_tokens: tokensOf(usage, 'input_tokens', at),
    cache_read_tokens: tokensOf(usage, 'cache_read_input_tokens', at),
    cache_write_tokens: tokensOf(usage, 'cache_creation_input_tokens', at),
    cache_write_5m_tokens: tokensOf(written, 'ephemeral_5m_input_tokens', inside),
    cache_write_1h_tokens: tokensOf(written, 'ephemeral_1h_input_tokens', inside),
    output_tokens: tokensOf(usage, 'output_tokens', at),
    reasoning_tokens: tokensOf(thinking, 'thinking_tokens', memberLocation(at, 'output_tokens_details')),
  })
}

const tierOf = (message: JsonObject, place: ImportLocation): string | undefined => {
  const usage = objectOf(message, 'usage', place)
  return usage === undefined ? undefined : textOf(usage, 'service_tier', memberLocation(place, 'usage'))
}

const WORD = /^[a-z][a-z0-9_]{0,63}$/
const STATUS = /\bAPI Error:? (\d{3})\b/

/** Why a request failed: a word of the line, and the status in the words that were shown. */
const errorOf = (record: JsonObject, message: JsonObject, place: ImportLocation): SessionReply['error'] => {
  const status = STATUS.exec(wordsIn(objectsOf(message, 'content', memberLocation(place, 'message'))))?.[1]
  const { error } = record
  return {
    type: typeof error === 'string' && WORD.test(error) ? error : 'api_error',
    status: status === undefined ? undefined : Number(status),
  }
}
