import { apiStyle, type Envelope, type Part } from 'guard-gateway/core'
import {
  ArgumentText,
  addBlock,
  addCalls,
  argumentBytes,
  type Content,
  type Counts,
  callPart,
  callsAmong,
  commonEnvelope,
  contentOf,
  contentParts,
  type Draft,
  errorFields,
  genericCall,
  isErrorResult,
  KeyCursor,
  listenBy,
  messageParts,
  noContent,
  noCounts,
  noteCounts,
  noteError,
  noteIdentity,
  objectsIn,
  parsedEvent,
  providerError,
  providerResultPart,
  type ReplyReader,
  replyMeter,
  resultPart,
  unknownParts,
  usageOf,
} from 'guard-gateway/lib/api-style'
import { isJsonObject, type JsonObject, jsonObjectOf, listOf, nonEmptyText } from 'guard-gateway/lib/json'
import { messagesSpeech } from './messages/speech.ts'

/** Anthropic's Messages. */
export const messages = apiStyle({
  id: 'messages',
  paths: ['/v1/messages'],
  unguarded: ['POST /v1/messages/count_tokens'],
  credential: { header: 'x-api-key' },
  list: 'messages',

  envelope(members: JsonObject): Envelope {
    const common = commonEnvelope(members, 'messages')
    return { ...common, before: [...systemParts(members.system), ...common.before] }
  },

  parts(element: unknown): readonly Part[] {
    const message = jsonObjectOf(element)
    const generic = genericCall(message)
    if (generic !== undefined) return [generic]
    if (message.role === 'system') return systemParts(message.content)
    if (message.role === 'assistant') return assistantParts(message.content)
    return message.role === 'user' ? userParts(message.content) : unknownParts(element)
  },

  nudge: (text) => ({ role: 'user', content: [{ type: 'text', text }] }),

  listen: listenBy(messagesSpeech),

  meter: (about) => replyMeter(about, messagesReader),

  refusal: (error, requestId) => ({ type: 'error', error: errorFields(error), request_id: requestId }),
})

/** A block that some builds of a client change with every request. */
const BILLING = /^[\t-\r ]*x-anthropic-billing-header:/

const systemParts = (system: unknown): Part[] => {
  const blocks = Array.isArray(system) ? system : [system]
  const instructions = blocks.filter((block) => !BILLING.test(textOf(block)))
  return messageParts('system', contentOf(instructions.filter((block) => block !== undefined && block !== null)))
}

const textOf = (block: unknown): string => {
  const text = typeof block === 'string' ? block : jsonObjectOf(block).text
  return typeof text === 'string' ? text : ''
}

const isResult = (block: unknown): block is JsonObject => {
  const { type } = jsonObjectOf(block)
  return typeof type === 'string' && (type === 'tool_result' || type.endsWith('_tool_result'))
}

const isCall = (block: unknown): block is JsonObject => {
  const { type } = jsonObjectOf(block)
  return type === 'tool_use' || type === 'server_tool_use' || type === 'mcp_tool_use'
}

const userParts = (content: unknown): Part[] => {
  const blocks = listOf(content)
  if (!blocks.some(isResult)) return messageParts('user', contentOf(content))
  const beside = blocks.filter((block) => !isResult(block)).map(contentOf)
  return [
    ...blocks.filter(isResult).map(resultOf),
    ...beside.flatMap((read) => contentParts('beside', read)),
    ...beside.flatMap(({ calls }) => calls),
  ]
}

/** Texts and calls in one turn; a result that stands among them, of a tool that ran at the provider, parts it in two. */
const assistantParts = (content: unknown): Part[] => {
  const parts: Part[] = []
  let read: Content = noContent()
  const flush = () => {
    for (const part of messageParts('text', read)) parts.push(part)
    read = noContent()
  }
  for (const block of Array.isArray(content) ? content : [content ?? '']) {
    if (isResult(block)) {
      flush()
      parts.push(providerResultPart(resultOf(block)))
    } else if (isCall(block)) read.calls.push(callOf(block))
    else addBlock(read, block)
  }
  flush()
  return parts
}

const callOf = (block: JsonObject): Part => {
  const server = nonEmptyText(block.server_name)
  const name = nonEmptyText(block.name) ?? ''
  return callPart(server === null ? name : `${server}.${name}`, block.input, block.id)
}

const resultOf = (block: JsonObject): Part => {
  const { type } = jsonObjectOf(block.content)
  const failed =
    block.is_error === true || (typeof type === 'string' && type.endsWith('_error')) || isErrorResult(block.content)
  return resultPart(block.tool_use_id, contentOf(block.content), failed || (block.is_error === false ? false : null))
}

/** Types of events that carry nothing but text, and of the deltas in them. */
const quiet = ['content_block_delta', 'text_delta', 'thinking_delta', 'signature_delta', 'ping'] as const

/** Looks through one event at a time, whoever's it is. */
const keys = new KeyCursor()

/** Bytes of the text that a member of a delta is. */
const textIn = (draft: Draft): number => {
  if (keys.is('text')) draft.spoke = true
  else if (keys.is('thinking')) draft.reasoned = true
  else return 0
  return keys.textBytes()
}

const messagesReader = (draft: Draft): ReplyReader => {
  const counts = noCounts(countPaths)
  const open = new Map<unknown, { readonly block: JsonObject; readonly args: ArgumentText }>()

  /** Counts the text of an event, and says whether it is anything but a piece of text. */
  const tells = (bytes: Buffer, start: number, end: number): boolean => {
    let types = 0
    let length = 0
    keys.open(bytes, start, end)
    while (keys.next()) {
      if (keys.is('type')) {
        if (!keys.equalsAmong(quiet)) return true
        types++
      } else length += textIn(draft)
    }
    draft.output_bytes += length
    return types === 0
  }

  const finish = (index: unknown): void => {
    const call = open.get(index)
    if (call === undefined) return
    open.delete(index)
    const { block, args } = call
    addCalls(draft, callsAmong([callOf(args.text === '' ? block : { ...block, input: args.text })]))
  }

  const handlers: Readonly<Record<string, (event: JsonObject) => void>> = {
    message_start: (event) => noteMessage(draft, counts, jsonObjectOf(event.message)),
    content_block_start: (event) => {
      nameObjects(draft, event.content_block)
      noteKind(draft, jsonObjectOf(event.content_block))
      if (isCall(event.content_block)) open.set(event.index, { block: event.content_block, args: new ArgumentText() })
      else draft.output_bytes += Buffer.byteLength(textOf(event.content_block))
    },
    content_block_delta: (event) => {
      const piece = jsonObjectOf(event.delta).partial_json
      draft.output_bytes += open.get(event.index)?.args.add(piece) ?? 0
    },
    content_block_stop: (event) => finish(event.index),
    message_delta: (event) => {
      nameObjects(draft, event.delta)
      draft.finish_reason = nonEmptyText(jsonObjectOf(event.delta).stop_reason) ?? draft.finish_reason
      noteUsage(draft, counts, event.usage)
    },
    message_stop: () => {
      draft.complete = true
    },
    error: (event) => noteError(draft, event),
  }

  return {
    event(bytes, start, end) {
      if (!tells(bytes, start, end)) return
      const event = parsedEvent(bytes, start, end)
      const type = nonEmptyText(event.type) ?? (isJsonObject(event.error) ? 'error' : '')
      if (Object.hasOwn(handlers, type)) handlers[type]?.(event)
    },
    body(value) {
      if (value.type === 'error' || isJsonObject(value.error)) draft.error = providerError(value)
      noteMessage(draft, counts, value)
      addCalls(draft, callsAmong(assistantParts(value.content)))
      for (const block of listOf(value.content).map(jsonObjectOf)) {
        noteKind(draft, block)
        draft.output_bytes += bytesOf(block)
      }
    },
    close: () => usageOf(counts),
  }
}

/** Names the container of the tools that run at the provider, and files that they made. */
const nameObjects = (draft: Draft, value: unknown): void => {
  for (const object of objectsIn(value)) draft.named(object)
}

const noteMessage = (draft: Draft, counts: Counts<keyof typeof countPaths>, message: JsonObject): void => {
  nameObjects(draft, message)
  noteIdentity(draft, message)
  draft.finish_reason = nonEmptyText(message.stop_reason) ?? draft.finish_reason
  noteUsage(draft, counts, message.usage)
}

/** Whether a block is reasoning, or anything that the client gets; an empty text is neither. */
const noteKind = (draft: Draft, block: JsonObject): void => {
  if (block.type === 'thinking' || block.type === 'redacted_thinking') draft.reasoned = true
  else if (block.type !== 'text' || textOf(block).trim() !== '') draft.spoke = true
}

/** UTF-8 bytes of what the model wrote into this block. */
const bytesOf = (block: JsonObject): number => {
  const written = nonEmptyText(block.text) ?? nonEmptyText(block.thinking)
  if (written !== null) return Buffer.byteLength(written)
  return isCall(block) ? argumentBytes(block.input) : 0
}

/** Where each count stands in a usage object. */
const countPaths = {
  input: ['input_tokens'],
  read: ['cache_read_input_tokens'],
  written: ['cache_creation_input_tokens'],
  written5m: ['cache_creation', 'ephemeral_5m_input_tokens'],
  written1h: ['cache_creation', 'ephemeral_1h_input_tokens'],
  output: ['output_tokens'],
  reasoning: ['output_tokens_details', 'thinking_tokens'],
} as const

/** Counts, and under which terms they are billed. Fast mode has a price of its own, as a service tier has. */
const noteUsage = (draft: Draft, counts: Counts<keyof typeof countPaths>, usage: unknown): void => {
  if (!isJsonObject(usage)) return
  noteCounts(counts, countPaths, usage)
  const { service_tier, speed, inference_geo } = usage
  if (draft.service_tier !== 'fast')
    draft.service_tier = (speed === 'fast' ? speed : nonEmptyText(service_tier)) ?? draft.service_tier
  draft.inference_geo = nonEmptyText(inference_geo) ?? draft.inference_geo
}
