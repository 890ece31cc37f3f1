import { apiStyle, type Envelope, noUsage, type Part } from 'guard-gateway/core'
import {
  addCalls,
  type Counts,
  callsAmong,
  commonEnvelope,
  contentOf,
  contentParts,
  conversationId,
  type Draft,
  errorFields,
  KeyCursor,
  listenBy,
  NO_DETAIL,
  noCounts,
  noteCounts,
  noteError,
  noteIdentity,
  objectsIn,
  parsedEvent,
  providerError,
  type ReplyReader,
  replyMeter,
  tokenLimit,
  usageOf,
} from 'guard-gateway/lib/api-style'
import { firstOf, type JsonObject, jsonObjectOf, listOf, nonEmptyText } from 'guard-gateway/lib/json'
import { argumentsOf, itemParts } from './responses/items.ts'
import { responsesSpeech } from './responses/speech.ts'

const countPaths = {
  input: ['input_tokens'],
  read: ['input_tokens_details', 'cached_tokens'],
  written: ['input_tokens_details', 'cache_write_tokens'],
  output: ['output_tokens'],
  reasoning: ['output_tokens_details', 'reasoning_tokens'],
} as const

/** It holds the input of a request, and asks for a shorter one in place of an answer. */
const COMPACT = '/v1/responses/compact'

/** What providers keep, and the count of tokens. */
const storedPaths = [
  'POST /v1/responses/input_tokens',
  'GET /v1/responses/{response}',
  'DELETE /v1/responses/{response}',
  'POST /v1/responses/{response}/cancel',
  'GET /v1/responses/{response}/input_items',
  'POST /v1/conversations',
  'GET /v1/conversations/{conversation}',
  'POST /v1/conversations/{conversation}',
  'DELETE /v1/conversations/{conversation}',
  'GET /v1/conversations/{conversation}/items',
  'POST /v1/conversations/{conversation}/items',
  'GET /v1/conversations/{conversation}/items/{item}',
  'DELETE /v1/conversations/{conversation}/items/{item}',
]

/** OpenAI's Responses. */
export const responses = apiStyle({
  id: 'responses',
  paths: ['/v1/responses', COMPACT],
  unguarded: storedPaths,
  list: 'input',
  continues: true,

  envelope(members: JsonObject, { path }): Envelope {
    const common = commonEnvelope(members, 'input')
    return {
      ...common,
      max_tokens: tokenLimit(members.max_output_tokens),
      before: [
        ...contentParts('system', contentOf(members.instructions)),
        ...promptParts(members.prompt),
        ...common.before,
      ],
      previous_response_id: nonEmptyText(members.previous_response_id),
      conversation: conversationId(members),
      ...(path === COMPACT ? { task: 'compact' } : {}),
    }
  },

  parts: (element) => itemParts(element),

  nudge: (text) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }),

  listen: listenBy(responsesSpeech),

  meter: (about) => replyMeter(about, responsesReader),

  refusal: (error) => ({ error: { ...errorFields(error), param: null } }),
})

/** A stored prompt is named by its id, which counts here. */
const promptParts = (prompt: unknown): Part[] => {
  const { id, version, variables } = jsonObjectOf(prompt)
  const named = [id, version, variables].filter((value) => value !== undefined && value !== null)
  return named.length === 0 ? [] : contentParts('system', { texts: [], blocks: [named], calls: [] })
}

/** Types of events that are parsed; of the others only pieces of output are counted. */
const telling = [
  'response.output_item.done',
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.queued',
  'error',
] as const
/** Those that begin a stream; they tell whose it is, and are parsed until one has. */
const beginning = ['response.created', 'response.in_progress'] as const

/** Looks through one event at a time, whoever's it is. */
const keys = new KeyCursor()

const responsesReader = (draft: Draft): ReplyReader => {
  const counts = noCounts(countPaths)
  /** It runs in the background, and a later reply tells what it used. */
  let isPending = false

  /** Counts an event's piece of output, and says whether the event is one to parse. */
  const tells = (bytes: Buffer, start: number, end: number): boolean => {
    keys.open(bytes, start, end)
    while (keys.next()) {
      if (!keys.is('type') || !isEventType(keys)) continue
      if (keys.ends('.delta')) count(bytes, start, end)
      return keys.equalsAmong(telling) || (draft.response_id === null && keys.equalsAmong(beginning))
    }
    return true
  }

  const count = (bytes: Buffer, start: number, end: number): void => {
    keys.open(bytes, start, end)
    while (keys.next()) if (keys.is('delta')) draft.output_bytes += keys.textBytes()
  }

  const finish = (reply: JsonObject): void => {
    noteReply(draft, counts, reply)
    for (const item of listOf(reply.output)) noteKind(draft, jsonObjectOf(item))
    isPending = pendingStates.has(reply.status)
    draft.complete = !isPending
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
          nameObjects(draft, event.item)
          noteKind(draft, jsonObjectOf(event.item))
          break
        case 'response.completed':
        case 'response.incomplete':
        case 'response.failed':
          finish(jsonObjectOf(event.response))
          break
        case 'response.queued':
          isPending = true
          noteBeginning(draft, jsonObjectOf(event.response))
          break
        case 'response.created':
        case 'response.in_progress':
          noteBeginning(draft, jsonObjectOf(event.response))
          break
        default:
          if (event.type !== 'error' && firstOf(event.error) === undefined) break
          noteError(draft, event)
      }
    },
    body(value) {
      finish(value)
      nameObjects(draft, value.output)
      for (const item of listOf(value.output)) draft.output_bytes += bytesOf(jsonObjectOf(item))
    },
    close: () => usageOf(counts, { includes_cache: true }) ?? (isPending ? noUsage : null),
  }
}

const pendingStates: ReadonlySet<unknown> = new Set(['queued', 'in_progress'])

const isEventType = (keys: KeyCursor): boolean => keys.begins('response.') || keys.equals('error')

/** Takes over whose reply a stream is: it may break off at any time. What it will be served as comes at its end. */
const noteBeginning = (draft: Draft, reply: JsonObject): void => {
  nameReply(draft, reply)
  noteIdentity(draft, { model: reply.model, id: reply.id })
}

/** Names the response and its conversation. */
const nameReply = (draft: Draft, { id, conversation }: JsonObject): void => {
  const response = nonEmptyText(id)
  if (response === null || response === draft.response_id) return
  draft.named({ kind: 'response', id: response })
  const named = conversationId({ conversation })
  if (named !== null) draft.named({ kind: 'conversation', id: named })
}

/** Names containers and files that a reply made, and its items, which later input may refer to. */
const nameObjects = (draft: Draft, items: unknown): void => {
  for (const object of objectsIn(items)) draft.named(object)
  for (const item of Array.isArray(items) ? items : [items]) {
    const id = nonEmptyText(jsonObjectOf(item).id)
    if (id !== null) draft.named({ kind: 'item', id })
  }
}

const noteReply = (draft: Draft, counts: Counts<keyof typeof countPaths>, reply: JsonObject): void => {
  nameReply(draft, reply)
  noteIdentity(draft, reply)
  draft.finish_reason =
    nonEmptyText(jsonObjectOf(reply.incomplete_details).reason) ?? nonEmptyText(reply.status) ?? draft.finish_reason
  if (reply.status === 'failed' || firstOf(reply.error) !== undefined) {
    draft.error = providerError({ error: reply.error }) ?? NO_DETAIL
  }
  noteCounts(counts, countPaths, reply.usage)
}

/** Whether an item is reasoning, or anything that the client gets; an empty message is neither. */
const noteKind = (draft: Draft, item: JsonObject): void => {
  if (item.type === 'reasoning') draft.reasoned = true
  else if (item.type !== 'message' || contentOf(item.content).texts.length > 0) draft.spoke = true
}

const callsIn = (items: unknown) => callsAmong(listOf(items).flatMap(itemParts))

/** UTF-8 bytes of text and arguments in an item of the output. */
const bytesOf = (item: JsonObject): number => {
  const args = argumentsOf(item)
  const { texts } = contentOf(item.content)
  return texts.reduce(
    (sum, text) => sum + Buffer.byteLength(text),
    typeof args === 'string' ? Buffer.byteLength(args) : 0,
  )
}
