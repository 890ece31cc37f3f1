import { apiStyle, type Part } from 'guard-gateway/core'
import {
  ArgumentText,
  addCalls,
  callPart,
  callsAmong,
  commonEnvelope,
  contentOf,
  contentParts,
  type Draft,
  errorFields,
  noCounts,
  noteCounts,
  parsedEvent,
  type ReplyReader,
  replyMeter,
  resultPart,
  unknownParts,
  usageOf,
} from 'guard-gateway/lib/api-style'
import { type JsonObject, jsonObjectOf, listOf, nonEmptyText } from 'guard-gateway/lib/json'

/** The Cohere Chat API, version 2. */
export const cohereChat = apiStyle({
  id: 'cohere_chat',
  paths: ['/v2/chat'],
  list: 'messages',

  envelope: (members) => commonEnvelope(members, 'messages'),

  parts(element) {
    const message = jsonObjectOf(element)
    const content = contentOf(message.content)
    if (message.role === 'system' || message.role === 'user') return contentParts(message.role, content)
    if (message.role === 'assistant') return [...contentParts('text', content), ...callParts(message)]
    return message.role === 'tool' ? [resultPart(message.tool_call_id, content, null)] : unknownParts(element)
  },

  nudge: (text) => ({ role: 'user', content: text }),

  meter: (about) => replyMeter(about, reader),

  refusal: (error) => ({ message: error.message, error: errorFields(error) }),
})

const callParts = ({ tool_calls }: JsonObject): readonly Part[] => listOf(tool_calls).map(jsonObjectOf).map(callOf)

const callOf = (call: JsonObject): Part => {
  const { name, arguments: args } = jsonObjectOf(call.function)
  return callPart(name, args, call.id)
}

/** Paths of the counts in the usage of a reply. */
const counted = { input: ['tokens', 'input_tokens'], output: ['tokens', 'output_tokens'] } as const

/** Reads one reply, streamed or whole. */
const reader = (draft: Draft): ReplyReader => {
  const counts = noCounts(counted)
  let call: JsonObject = {}
  let args = new ArgumentText()

  const say = (text: unknown): void => {
    const said = nonEmptyText(text) ?? ''
    draft.output_bytes += Buffer.byteLength(said)
    draft.spoke ||= said !== ''
  }
  const end = ({ finish_reason, usage }: JsonObject): void => {
    draft.finish_reason = nonEmptyText(finish_reason)
    draft.complete = true
    noteCounts(counts, counted, usage)
  }
  const events: Readonly<Record<string, (event: JsonObject, message: JsonObject) => void>> = {
    'message-start': ({ id }) => {
      draft.response_id = nonEmptyText(id)
    },
    'content-delta': (_event, message) => say(jsonObjectOf(message.content).text),
    'tool-call-start': (_event, message) => {
      call = jsonObjectOf(message.tool_calls)
      args = new ArgumentText()
    },
    'tool-call-delta': (_event, message) => {
      draft.output_bytes += args.add(jsonObjectOf(jsonObjectOf(message.tool_calls).function).arguments)
    },
    'tool-call-end': () =>
      addCalls(
        draft,
        callsAmong([callOf({ ...call, function: { ...jsonObjectOf(call.function), arguments: args.text } })]),
      ),
    'message-end': ({ delta }) => end(jsonObjectOf(delta)),
  }

  return {
    event(bytes, start, stop) {
      const event = parsedEvent(bytes, start, stop)
      const type = nonEmptyText(event.type) ?? ''
      if (Object.hasOwn(events, type)) events[type]?.(event, jsonObjectOf(jsonObjectOf(event.delta).message))
    },
    body(reply) {
      const message = jsonObjectOf(reply.message)
      draft.response_id = nonEmptyText(reply.id)
      for (const block of listOf(message.content).map(jsonObjectOf)) say(block.text)
      addCalls(draft, callsAmong(callParts(message)))
      end(reply)
    },
    close: () => usageOf(counts),
  }
}
