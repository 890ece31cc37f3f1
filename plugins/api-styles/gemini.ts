import { apiStyle, type Envelope, type Listener, type Part } from 'guard-gateway/core'
import {
  addBlock,
  addWholeCalls,
  type Content,
  callPart,
  callsAmong,
  commonEnvelope,
  contentOf,
  contentParts,
  type Draft,
  genericCall,
  googleError,
  isErrorResult,
  listenBy,
  messageParts,
  noContent,
  noCounts,
  noteCounts,
  noteError,
  noteIdentity,
  parsedEvent,
  providerResultPart,
  type ReplyReader,
  replyMeter,
  resultPart,
  type Speech,
  tokenLimit,
  unknownParts,
  usageOf,
} from 'guard-gateway/lib/api-style'
import { firstOf, isJsonObject, type JsonObject, jsonObjectOf, listOf, nonEmptyText } from 'guard-gateway/lib/json'

/** Google reads names of members in both spellings. */
const either = (object: JsonObject, camel: string, snake: string): unknown => firstOf(object[camel], object[snake])

/** The call that a part is: of a function, or of code that runs at the provider. */
const callOf = (part: JsonObject): Extract<Part, { kind: 'call' }> | undefined => {
  const call = either(part, 'functionCall', 'function_call')
  const code = jsonObjectOf(either(part, 'executableCode', 'executable_code'))
  const made = isJsonObject(call)
    ? callPart(call.name, call.args ?? {}, call.id)
    : typeof code.code === 'string'
      ? callPart('code_execution', { code: code.code, language: code.language }, code.id)
      : undefined
  return made?.kind === 'call' && made.tool !== '' ? made : undefined
}

/** What a function has answered, which stands under one of a few names, or is the whole answer. */
const resultOf = (answer: JsonObject): Part => {
  const response = jsonObjectOf(answer.response)
  const output = firstOf(response.output, response.error, response.content, response.result) ?? answer.response
  const failed = firstOf(response.error) !== undefined || isErrorResult(response) ? true : null
  return resultPart(answer.id, contentOf(Array.isArray(answer.parts) ? [output, ...answer.parts] : output), failed)
}

const addPart = (read: Content, part: JsonObject): void => {
  const call = callOf(part)
  const media = jsonObjectOf(firstOf(either(part, 'inlineData', 'inline_data'), either(part, 'fileData', 'file_data')))
  const source = firstOf(media.data, either(media, 'fileUri', 'file_uri'))
  const { thoughtSignature: _, thought_signature: __, ...rest } = part
  if (part.thought === true) return
  if (call !== undefined) read.calls.push(call)
  else if (typeof part.text === 'string') addBlock(read, part.text)
  else if (typeof source === 'string') read.blocks.push(source)
  else if (Object.keys(rest).length > 0) read.blocks.push(rest)
}

const contentIn = (parts: readonly JsonObject[]): Content => {
  const read = noContent()
  for (const part of parts) addPart(read, part)
  return read
}

/** The parts of one content: a message of the user with results of functions, or a turn of the model. */
const partsIn = (kind: 'system' | 'user' | 'model', parts: unknown): Part[] => {
  const all = listOf(parts).map(jsonObjectOf)
  const answerOf = (part: JsonObject): JsonObject | undefined => {
    const answer = either(part, 'functionResponse', 'function_response')
    return isJsonObject(answer) ? answer : undefined
  }
  if (kind === 'model') return turnParts(all)
  const results = all.map(answerOf).filter(isJsonObject).map(resultOf)
  const beside = contentIn(all.filter((part) => answerOf(part) === undefined))
  return results.length === 0 ? messageParts(kind, beside) : [...results, ...contentParts('beside', beside)]
}

/** A result of code that ran at the provider parts a turn in two. */
const turnParts = (parts: readonly JsonObject[]): Part[] => {
  const at = parts.findIndex((part) => isJsonObject(either(part, 'codeExecutionResult', 'code_execution_result')))
  if (at === -1) return messageParts('text', contentIn(parts))
  const ran = jsonObjectOf(either(parts[at] ?? {}, 'codeExecutionResult', 'code_execution_result'))
  const failed = typeof ran.outcome === 'string' ? ran.outcome !== 'OUTCOME_OK' : null
  const result = providerResultPart(resultPart(ran.id, contentOf(ran.output), failed))
  return [...messageParts('text', contentIn(parts.slice(0, at))), result, ...turnParts(parts.slice(at + 1))]
}

/** What a reply of Gemini says, and how its event stream ends when tokens run out. */
const geminiSpeech = (): Speech => {
  let last: JsonObject | undefined
  const hear = (reply: JsonObject, listener: Listener): void => {
    // further candidates are other replies
    const candidate = jsonObjectOf(listOf(reply.candidates)[0])
    last = nonEmptyText(candidate.finishReason) === null ? reply : undefined
    for (const part of listOf(jsonObjectOf(candidate.content).parts).map(jsonObjectOf)) {
      const text = part.thought === true ? null : nonEmptyText(part.text)
      if (text !== null) listener.text(text)
      else listener.gap()
    }
  }
  return {
    event: hear,
    body: hear,
    ending() {
      if (last === undefined) return ''
      const content = { role: 'model', parts: [{ text: '' }] }
      const reply = { ...last, candidates: [{ content, finishReason: 'MAX_TOKENS', index: 0 }] }
      return `data: ${JSON.stringify(reply)}\r\n\r\n`
    },
  }
}

/** Those of the Gemini API, and of Vertex AI. */
const versions = ['v1beta', 'v1', 'v1alpha', 'v1beta1']
/** Parameters of such a path: a model of the API, a tuned one, or one with its project, location and publisher. */
const actions = (...names: string[]) =>
  versions.flatMap((version) => names.map((name) => `/${version}/{+model}:${name}`))

/** Google's generateContent, of the Gemini API and of Vertex AI. */
export const gemini = apiStyle({
  id: 'gemini',
  paths: actions('generateContent', 'streamGenerateContent'),
  unguarded: [
    ...actions('countTokens', 'embedContent', 'batchEmbedContents').map((path) => `POST ${path}`),
    ...['v1beta', 'v1alpha'].flatMap((version) => [`GET /${version}/models`, `GET /${version}/models/{model}`]),
  ],
  credential: { header: 'x-goog-api-key', query: 'key' },
  json_stream: true,
  list: 'contents',

  envelope(members: JsonObject, { path, params }): Envelope {
    const config = jsonObjectOf(either(members, 'generationConfig', 'generation_config'))
    const cached = either(members, 'cachedContent', 'cached_content')
    const common = commonEnvelope(members, 'contents')
    return {
      ...common,
      model: params.model?.replace(/^(?:.*\/)?models\//, '') ?? '',
      stream: path.endsWith('streamGenerateContent'),
      max_tokens: tokenLimit(either(config, 'maxOutputTokens', 'max_output_tokens')),
      temperature: tokenLimit(config.temperature),
      before: [
        ...partsIn('system', jsonObjectOf(either(members, 'systemInstruction', 'system_instruction')).parts),
        ...(cached === undefined ? [] : contentParts('system', { texts: [], blocks: [cached], calls: [] })),
        ...common.before,
      ],
      tool_choice: either(members, 'toolConfig', 'tool_config'),
    }
  },

  parts(element) {
    const { role, parts, ...rest } = jsonObjectOf(element)
    const generic = genericCall(rest)
    if (generic !== undefined) return [generic]
    if (!Array.isArray(parts)) return unknownParts(element)
    return partsIn(role === 'model' || role === 'system' ? role : 'user', parts)
  },

  nudge: (text) => ({ role: 'user', parts: [{ text }] }),
  listen: listenBy(geminiSpeech, { json: true }),
  meter: (about) => replyMeter(about, geminiReader, { json: true }),

  refusal: googleError,
})

const countPaths = {
  input: ['promptTokenCount'],
  tools: ['toolUsePromptTokenCount'],
  read: ['cachedContentTokenCount'],
  output: ['candidatesTokenCount'],
  reasoning: ['thoughtsTokenCount'],
} as const

const geminiReader = (draft: Draft): ReplyReader => {
  const counts = noCounts(countPaths)
  const note = (reply: JsonObject): void => {
    if (isJsonObject(reply.error)) {
      noteError(draft, reply)
      return
    }
    const usage = jsonObjectOf(reply.usageMetadata)
    // the Gemini API says a tier, Vertex AI a kind of traffic
    const service_tier = usage.serviceTier ?? usage.trafficType
    noteIdentity(draft, { model: reply.modelVersion, id: reply.responseId, service_tier })
    noteCounts(counts, countPaths, usage)
    draft.finish_reason = nonEmptyText(jsonObjectOf(reply.promptFeedback).blockReason) ?? draft.finish_reason
    for (const candidate of listOf(reply.candidates).map(jsonObjectOf)) {
      draft.finish_reason = nonEmptyText(candidate.finishReason) ?? draft.finish_reason
      for (const part of listOf(jsonObjectOf(candidate.content).parts).map(jsonObjectOf)) notePart(draft, part)
    }
  }
  return {
    event: (bytes, start, end) => note(parsedEvent(bytes, start, end)),
    body: note,
    close() {
      // no event ends a stream, but a reason to finish does
      draft.complete ||= draft.finish_reason !== null
      return usageOf(counts, { includes_cache: true, reasoning_apart: true })
    },
  }
}

const notePart = (draft: Draft, part: JsonObject): void => {
  const text = nonEmptyText(part.text) ?? ''
  const call = callOf(part)
  draft.output_bytes += Buffer.byteLength(text)
  if (part.thought === true) draft.reasoned = true
  else if (text !== '' || Object.keys(part).some((name) => name !== 'text' && !name.startsWith('thought')))
    draft.spoke = true
  if (call !== undefined) addWholeCalls(draft, callsAmong([call]))
}
