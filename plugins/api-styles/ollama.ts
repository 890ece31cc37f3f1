import { apiStyle, type Envelope, type Listener, type Part } from 'guard-gateway/core'
import {
  addWholeCalls,
  type Content,
  callPart,
  callsAmong,
  commonEnvelope,
  contentOf,
  type Draft,
  errorFields,
  genericCall,
  listenBy,
  messageParts,
  noCounts,
  noteCounts,
  noteError,
  noteIdentity,
  parsedEvent,
  type ReplyReader,
  replyMeter,
  resultPart,
  type Speech,
  tokenLimit,
  unknownParts,
  usageOf,
} from 'guard-gateway/lib/api-style'
import { firstOf, type JsonObject, jsonObjectOf, listOf, nonEmptyText } from 'guard-gateway/lib/json'

/** What a reply of Ollama says, and how its lines end when tokens run out. */
const ollamaSpeech = (): Speech => {
  let last: JsonObject | undefined
  const hear = (reply: JsonObject, listener: Listener): void => {
    const message = jsonObjectOf(reply.message)
    const text = nonEmptyText(message.content) ?? nonEmptyText(reply.response)
    last = reply.done === true ? undefined : reply
    if (text !== null) listener.text(text)
    if (listOf(message.tool_calls).length > 0) listener.gap()
  }
  return {
    event: hear,
    body: hear,
    ending() {
      if (last === undefined) return ''
      const { model, created_at, message } = last
      const empty = message === undefined ? { response: '' } : { message: { role: 'assistant', content: '' } }
      return `${JSON.stringify({ model, created_at, ...empty, done: true, done_reason: 'length' })}\n`
    },
  }
}

const countPaths = { input: ['prompt_eval_count'], output: ['eval_count'] } as const

/** Ollama's own chat and generate. */
export const ollama = apiStyle({
  id: 'ollama',
  paths: ['/api/chat', '/api/generate'],
  unguarded: [
    ...['GET /api/tags', 'GET /api/version', 'GET /api/ps'],
    ...['POST /api/show', 'POST /api/embed', 'POST /api/embeddings'],
  ],
  json_stream: true,
  list: 'messages',

  envelope(members: JsonObject): Envelope {
    const options = jsonObjectOf(members.options)
    const common = commonEnvelope(members, 'messages')
    return {
      ...common,
      stream: members.stream !== false,
      max_tokens: tokenLimit(options.num_predict),
      temperature: tokenLimit(options.temperature),
      before: [
        ...messageParts('system', contentOf(members.system)),
        ...messageParts('user', withBlocks(members.prompt, [members.suffix, members.context], members.images)),
        ...common.before,
      ],
    }
  },

  parts(element) {
    const message = jsonObjectOf(element)
    const { role, content, images } = message
    // a result names its tool as calls of no dialect do
    if (role === 'tool') return [resultPart(message.tool_call_id, contentOf(content), null)]
    const generic = genericCall(message)
    if (generic !== undefined) return [generic]
    if (role === 'system' || role === 'user') return messageParts(role, withBlocks(content, [], images))
    return role === 'assistant'
      ? [...messageParts('text', contentOf(content)), ...callsOf(message)]
      : unknownParts(element)
  },

  nudge: (text) => ({ role: 'user', content: text }),
  listen: listenBy(ollamaSpeech, { json: true }),
  meter: (about) => replyMeter(about, ollamaReader, { json: true }),

  refusal(error) {
    const { message, ...fields } = errorFields(error)
    return { error: message, ...fields }
  },
})

/** A text with what else counts beside it, and images. */
const withBlocks = (text: unknown, beside: readonly unknown[], images: unknown): Content => {
  const read = contentOf(text)
  const further = beside.filter((value) => firstOf(value) !== undefined && value !== '')
  return { ...read, blocks: [...read.blocks, ...further, ...listOf(images)] }
}

const callsOf = ({ tool_calls }: JsonObject): Part[] =>
  listOf(tool_calls).map((call) => {
    const { id, function: called } = jsonObjectOf(call)
    const { name, arguments: args } = jsonObjectOf(called)
    return callPart(name, args, id)
  })

const ollamaReader = (draft: Draft): ReplyReader => {
  const counts = noCounts(countPaths)
  const note = (reply: JsonObject): void => {
    if (firstOf(reply.error) !== undefined) {
      noteError(draft, reply)
      return
    }
    const message = jsonObjectOf(reply.message)
    const text = nonEmptyText(message.content) ?? nonEmptyText(reply.response) ?? ''
    const thought = nonEmptyText(message.thinking) ?? nonEmptyText(reply.thinking) ?? ''
    const calls = callsAmong(callsOf(message))
    noteIdentity(draft, reply)
    addWholeCalls(draft, calls)
    draft.output_bytes += Buffer.byteLength(text + thought)
    draft.spoke ||= text !== ''
    draft.reasoned ||= thought !== ''
    if (reply.done !== true) return
    draft.complete = true
    draft.finish_reason = nonEmptyText(reply.done_reason)
    noteCounts(counts, countPaths, reply)
  }
  return {
    event: (bytes, start, end) => note(parsedEvent(bytes, start, end)),
    body: note,
    close: () => usageOf(counts),
  }
}
