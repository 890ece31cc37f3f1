import { apiStyle, type Envelope, type Listener, type Part } from 'guard-gateway/core'
import {
  addBlock,
  addCalls,
  type Counts,
  callPart,
  callsAmong,
  commonEnvelope,
  contentOf,
  contentParts,
  type Draft,
  errorFields,
  genericCall,
  KeyCursor,
  listenBy,
  messageParts,
  noCounts,
  noteCounts,
  noteIdentity,
  parsedEvent,
  providerError,
  type ReplyReader,
  replyMeter,
  resultPart,
  type Speech,
  tokenLimit,
  unknownParts,
  usageOf,
} from 'guard-gateway/lib/api-style'
import { firstOf, isJsonObject, type JsonObject, jsonObjectOf, listOf, nonEmptyText } from 'guard-gateway/lib/json'
import { Arrivals } from './chat-completions/arrivals.ts'

const countPaths = {
  input: ['prompt_tokens'],
  read: ['prompt_tokens_details', 'cached_tokens'],
  written: ['prompt_tokens_details', 'cache_write_tokens'],
  output: ['completion_tokens'],
  reasoning: ['completion_tokens_details', 'reasoning_tokens'],
  total: ['total_tokens'],
} as const

/** Where Kimi and DeepSeek say what was cached. */
const cachedPaths = [{ read: ['cached_tokens'] }, { read: ['prompt_cache_hit_tokens'] }] as const

type ChatCounts = Counts<keyof typeof countPaths>

/** What a reply of Chat Completions says, and how its stream ends when tokens run out. */
const chatSpeech = (): Speech => {
  const choices = new Set<number>()
  let chunk: JsonObject | undefined
  return {
    event(event, listener) {
      for (const choice of listOf(event.choices).map(jsonObjectOf)) {
        chunk = event
        const index = typeof choice.index === 'number' ? choice.index : 0
        if (nonEmptyText(choice.finish_reason) === null) choices.add(index)
        else choices.delete(index)
        // Further choices are other replies: listened to together they would seem to repeat each other.
        if (index === 0) emitMessage(jsonObjectOf(choice.delta), listener)
      }
    },
    body(value, listener) {
      emitMessage(jsonObjectOf(jsonObjectOf(listOf(value.choices)[0]).message), listener)
    },
    ending() {
      if (chunk === undefined || choices.size === 0) return ''
      const { id, created, model } = chunk
      const last = {
        id,
        object: 'chat.completion.chunk',
        created,
        model,
        choices: [...choices].map((index) => ({ index, delta: {}, finish_reason: 'length' })),
      }
      return `data: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n`
    },
  }
}

const emitMessage = (message: JsonObject, listener: Listener): void => {
  for (const text of contentOf(message.content).texts) if (text !== '') listener.text(text)
  if (message.tool_calls !== undefined || message.function_call !== undefined) listener.gap()
}

/** OpenAI's Chat Completions, which most local and third-party servers speak too. */
export const chatCompletions = apiStyle({
  id: 'chat_completions',
  paths: ['/v1/chat/completions'],
  list: 'messages',

  envelope(members: JsonObject): Envelope {
    const common = commonEnvelope(members, 'messages')
    return {
      ...common,
      max_tokens: tokenLimit(members.max_completion_tokens) ?? common.max_tokens,
      tools: members.tools ?? members.functions,
      tool_choice: members.tool_choice ?? members.function_call,
    }
  },

  parts(element: unknown): readonly Part[] {
    const message = jsonObjectOf(element)
    const generic = genericCall(message)
    if (generic !== undefined) return [generic]
    switch (message.role) {
      case 'system':
      case 'developer':
      case 'user':
        return messageParts(message.role === 'user' ? 'user' : 'system', contentOf(message.content))
      case 'assistant':
        return assistantParts(message)
      case 'tool':
      case 'function':
        return [resultPart(message.tool_call_id, contentOf(message.content), null)]
      default:
        return unknownParts(element)
    }
  },

  nudge: (text) => ({ role: 'user', content: text }),

  listen: listenBy(chatSpeech),
  meter: (about) => replyMeter(about, chatReader),

  refusal: (error) => ({ error: { ...errorFields(error), param: null } }),
})

const assistantParts = (message: JsonObject): Part[] => {
  const content = contentOf(message.content)
  if (typeof message.refusal === 'string') addBlock(content, message.refusal)
  const audio = nonEmptyText(jsonObjectOf(message.audio).id)
  if (audio !== null) content.blocks.push(audio)
  const spokenText = contentParts('text', content)
  const calls = callsOf(message)
  return spokenText.length + content.calls.length === 0 ? calls : [...spokenText, ...content.calls, ...calls]
}

/** The calls of an assistant message: `tool_calls`, and the one of the form before it. */
const callsOf = (message: JsonObject): Part[] => {
  const listed = listOf(message.tool_calls)
  const calls = (listed.every(isJsonObject) ? listed : listed.filter(isJsonObject)).map(callOf)
  if (isJsonObject(message.function_call)) calls.push(callOf({ function: message.function_call }))
  return calls
}

const callOf = (call: JsonObject): Part => {
  const body = isJsonObject(call.function) ? call.function : jsonObjectOf(call.custom)
  return genericCall(call) ?? callPart(body.name, firstOf(body.arguments, body.input), call.id)
}

/** Names under which deltas and messages carry text that is paid for. */
const spoken = ['content', 'reasoning_content', 'reasoning', 'refusal'] as const

/** Names that make a chunk worth parsing, unless their value is null. */
const telling = ['tool_calls', 'finish_reason', 'usage', 'error', 'function_call'] as const

const NULL = 'n'.charCodeAt(0)

/** Looks through one chunk at a time, whoever's it is. */
const keys = new KeyCursor()

const chatReader = (draft: Draft): ReplyReader => {
  const counts = noCounts(countPaths)
  let arriving: Arrivals | undefined

  /** Counts the text of a chunk, and says whether it holds anything else of interest. */
  const tells = (bytes: Buffer, start: number, end: number): boolean => {
    let found = false
    keys.open(bytes, start, end)
    while (keys.next()) {
      if (keys.isAmong(spoken)) noteText(draft, keys.is('content') || keys.is('refusal'), keys.textBytes())
      else if (keys.first !== NULL && keys.isAmong(telling)) found = true
    }
    return found
  }

  return {
    event(bytes, start, end) {
      if (isDone(bytes, start, end)) {
        draft.complete = true
        return
      }
      if (!tells(bytes, start, end) && arriving !== undefined) return
      arriving ??= new Arrivals(draft)
      const chunk = parsedEvent(bytes, start, end)
      noteReply(draft, counts, chunk)
      for (const choice of listOf(chunk.choices)) arriving.add(jsonObjectOf(choice))
    },
    body(value) {
      noteReply(draft, counts, value)
      for (const choice of listOf(value.choices)) noteMessage(draft, jsonObjectOf(choice))
    },
    close() {
      // Not every server sends the last event; a reason to finish says as much.
      draft.complete ||= draft.finish_reason !== null
      if (draft.complete) arriving?.close()
      return usageOf(counts, { includes_cache: true, reasoning_apart: hasReasoningApart(counts) })
    },
  }
}

const DONE = Buffer.from('[DONE]')
const isDone = (bytes: Buffer, start: number, end: number): boolean =>
  bytes[start] === DONE[0] && end - start < 16 && bytes.toString('latin1', start, end).trim() === '[DONE]'

const noteReply = (draft: Draft, counts: ChatCounts, reply: JsonObject): void => {
  const id = draft.response_id === null ? nonEmptyText(reply.id) : null
  if (id !== null) draft.named({ kind: 'completion', id })
  noteIdentity(draft, reply)
  if (reply.error !== undefined && reply.error !== null) draft.error = providerError(reply) ?? draft.error
  // Groq tells usage here where nobody asked for it.
  noteUsage(counts, jsonObjectOf(reply.x_groq).usage)
  noteUsage(counts, reply.usage)
}

const noteUsage = (counts: ChatCounts, usage: unknown): void => {
  if (!isJsonObject(usage)) return
  for (const paths of cachedPaths) noteCounts(counts, paths, usage)
  noteCounts(counts, countPaths, usage)
}

/** xAI leaves reasoning out of `completion_tokens`; only the total shows it. */
const hasReasoningApart = ({ input, output, reasoning, total }: ChatCounts): boolean =>
  reasoning !== null && reasoning > 0 && total === (input ?? 0) + (output ?? 0) + reasoning

const noteMessage = (draft: Draft, choice: JsonObject): void => {
  const message = jsonObjectOf(choice.message)
  draft.finish_reason = nonEmptyText(choice.finish_reason) ?? draft.finish_reason
  for (const name of spoken) {
    const { texts } = contentOf(message[name])
    for (const text of texts) noteText(draft, name === 'content' || name === 'refusal', Buffer.byteLength(text))
  }
  if (message.tool_calls === undefined && message.function_call === undefined) return
  const calls = callsAmong(callsOf(message))
  addCalls(draft, calls)
  for (const { args } of calls) if (typeof args === 'string') draft.output_bytes += Buffer.byteLength(args)
}

/** Text that the client gets, or reasoning. */
const noteText = (draft: Draft, spokenText: boolean, bytes: number): void => {
  draft.output_bytes += bytes
  if (bytes === 0) return
  if (spokenText) draft.spoke = true
  else draft.reasoned = true
}
