import {
  addCalls,
  apiStyle,
  type Counts,
  callPart,
  callsAmong,
  commonEnvelope,
  contentOf,
  conversationId,
  type Draft,
  type Envelope,
  errorFields,
  firstOf,
  genericCall,
  KeyCursor,
  listOf,
  noCounts,
  noteCounts,
  type Part,
  parsedEvent,
  providerError,
  type ReplyReader,
  replyMeter,
  resultPart,
  type Shape,
  saidParts,
  saysFailed,
  saysNothing,
  shapeOf,
  strangeParts,
  tokenLimit,
  totalled,
  type Usage,
  wordOf,
} from 'guard-gateway/core'
import { responsesSpeech } from './responses/speech.ts'

const countPaths = {
  input: ['input_tokens'],
  read: ['input_tokens_details', 'cached_tokens'],
  written: ['input_tokens_details', 'cache_write_tokens'],
  output: ['output_tokens'],
  reasoning: ['output_tokens_details', 'reasoning_tokens'],
} as const

/** OpenAI's Responses. */
export const responses = apiStyle({
  id: 'responses',
  paths: ['/v1/responses'],
  list: 'input',
  bytewise: true,
  continues: true,

  envelope(members: Shape): Envelope {
    const common = commonEnvelope(members, 'input')
    return {
      ...common,
      max_tokens: tokenLimit(members.max_output_tokens),
      before: [
        ...saidParts('system', contentOf(members.instructions)),
        ...promptParts(members.prompt),
        ...common.before,
      ],
      previous_response_id: wordOf(members.previous_response_id),
      conversation: conversationId(members),
    }
  },

  parts: (element) => itemParts(element),

  nudge: (text) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }),

  speech: responsesSpeech,

  meter: (about) => replyMeter(about, responsesReader),

  refusal: (error) => ({ error: { ...errorFields(error), param: null } }),
})

const itemParts = (element: unknown): readonly Part[] => {
  const item = shapeOf(element)
  const generic = genericCall(item)
  if (generic !== undefined) return [generic]
  const type = wordOf(item.type) ?? 'message'
  if (Object.hasOwn(itemReaders, type)) return itemReaders[type]?.(item) ?? []
  if (type.endsWith('_call')) return callParts(item, type)
  return type.endsWith('_output') ? [outputPart(item)] : strangeParts(element)
}

/** A stored prompt is named by its id, which counts here. */
const promptParts = (prompt: unknown): Part[] => {
  const { id, version, variables } = shapeOf(prompt)
  const named = [id, version, variables].filter((value) => value !== undefined && value !== null)
  return named.length === 0 ? [] : saidParts('system', { texts: [], blocks: [named], calls: [] })
}

const messageParts = (item: Shape): Part[] => {
  const kind = kinds.get(item.role)
  if (kind === undefined) return strangeParts(item)
  const content = contentOf(item.content)
  return [...saidParts(kind, content), ...content.calls]
}

const kinds = new Map<unknown, 'system' | 'user' | 'text'>([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['assistant', 'text'],
])

/** An array keeps what would be dropped as a volatile member, for here it is the content. */
const standIn = (item: Shape, content: unknown): Part[] =>
  saidParts('text', { texts: [], blocks: [[item.type, content ?? null]], calls: [] })

const itemReaders: Readonly<Record<string, (item: Shape) => Part[]>> = {
  message: messageParts,
  reasoning: () => [],
  // Both stand for something the model said: as a user's word they would end every repetition.
  item_reference: (item) => standIn(item, item.id),
  compaction: (item) => standIn(item, item.encrypted_content),
  // Definitions, not calls.
  additional_tools: strangeParts,
  tool_search_output: (item) => [
    resultPart(item.call_id, { texts: [], blocks: [item.tools ?? null], calls: [] }, saysFailed(item) || null),
  ],
}

/** A call, and its own output where the provider ran the tool. */
const callParts = (item: Shape, type: string): Part[] => {
  const id = wordOf(item.call_id) ?? wordOf(item.id)
  const label = wordOf(item.namespace) ?? wordOf(item.server_label)
  const name = wordOf(item.name) ?? type
  const call = callPart(label === null ? name : `${label}.${name}`, argumentsOf(item), id)
  const error = firstOf(item.error)
  const output = firstOf(item.output, item.outputs, item.results, wordOf(shapeOf(error).message), error)
  if (output !== undefined)
    return [call, resultPart(id, contentOf(output), error !== undefined || saysFailed(item) || null)]
  const image = wordOf(item.result)
  return image === null ? [call] : [call, resultPart(id, { texts: [], blocks: [image], calls: [] }, null)]
}

const argumentsOf = (item: Shape): unknown =>
  firstOf(item.arguments, item.input, item.action, item.operation, item.actions, item.queries, item.code)

const outputPart = (item: Shape): Part =>
  resultPart(item.call_id, contentOf(item.output), saysFailed(item) || saysFailed(item.output) || null)

/** Types of events that are parsed; of the others only pieces of output are counted. */
const telling = [
  'response.output_item.done',
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
] as const

/** Looks through one event at a time, whoever's it is. */
const keys = new KeyCursor()

const responsesReader = (draft: Draft): ReplyReader => {
  const counts = noCounts(countPaths)

  /** Counts an event's piece of output, and says whether the event is one to parse. */
  const tells = (bytes: Buffer, start: number, end: number): boolean => {
    keys.open(bytes, start, end)
    while (keys.next()) {
      if (!keys.is('type') || !isEventType(keys)) continue
      if (keys.ends('.delta')) count(bytes, start, end)
      return keys.equalsAmong(telling)
    }
    return true
  }

  const count = (bytes: Buffer, start: number, end: number): void => {
    keys.open(bytes, start, end)
    while (keys.next()) if (keys.is('delta')) draft.output_bytes += keys.textBytes()
  }

  const finish = (reply: Shape): void => {
    noteReply(draft, counts, reply)
    draft.complete = true
    // Most servers have told each call before; some tell them only here.
    if (draft.calls.length === 0) addCalls(draft, callsIn(reply.output))
  }

  return {
    event(bytes, start, end) {
      if (!tells(bytes, start, end)) return
      const event = parsedEvent(bytes, start, end)
      switch (event.type) {
        case 'response.output_item.done':
          addCalls(draft, callsIn([event.item]))
          break
        case 'response.completed':
        case 'response.incomplete':
        case 'response.failed':
          finish(shapeOf(event.response))
          break
        default:
          if (event.type !== 'error' && firstOf(event.error) === undefined) break
          draft.error = providerError(event) ?? { type: null, code: null, message: '' }
          draft.complete = true
      }
    },
    body(value) {
      finish(value)
      for (const item of listOf(value.output)) draft.output_bytes += bytesOf(shapeOf(item))
    },
    close: () => usageOf(counts),
  }
}

const isEventType = (keys: KeyCursor): boolean => keys.begins('response.') || keys.equals('error')

const noteReply = (draft: Draft, counts: Counts<keyof typeof countPaths>, reply: Shape): void => {
  draft.model = wordOf(reply.model) ?? draft.model
  draft.response_id = wordOf(reply.id) ?? draft.response_id
  draft.finish_reason = wordOf(shapeOf(reply.incomplete_details).reason) ?? wordOf(reply.status) ?? draft.finish_reason
  if (reply.status === 'failed' || firstOf(reply.error) !== undefined) {
    draft.error = providerError({ error: reply.error }) ?? { type: null, code: null, message: '' }
  }
  noteCounts(counts, countPaths, reply.usage)
}

const callsIn = (items: unknown) => callsAmong(listOf(items).flatMap(itemParts))

/** UTF-8 bytes of text and arguments in an item of the output. */
const bytesOf = (item: Shape): number => {
  const args = argumentsOf(item)
  const { texts } = contentOf(item.content)
  return texts.reduce(
    (sum, text) => sum + Buffer.byteLength(text),
    typeof args === 'string' ? Buffer.byteLength(args) : 0,
  )
}

const usageOf = (counts: Counts<keyof typeof countPaths>): Usage | null => {
  if (saysNothing(counts)) return null
  const read = counts.read ?? 0
  const written = counts.written ?? 0
  return totalled({
    input_tokens: (counts.input ?? 0) - read - written,
    cache_read_tokens: read,
    cache_write_tokens: written,
    output_tokens: counts.output ?? 0,
    reasoning_tokens: counts.reasoning ?? 0,
  })
}
