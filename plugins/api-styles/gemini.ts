import { apiStyle, type Envelope } from 'guard-gateway/core'
import {
  addWholeCalls,
  callsAmong,
  commonEnvelope,
  contentParts,
  type Draft,
  genericCall,
  googleError,
  listenBy,
  noCounts,
  noteCounts,
  noteError,
  noteIdentity,
  parsedEvent,
  type ReplyReader,
  replyMeter,
  tokenLimit,
  unknownParts,
  usageOf,
} from 'guard-gateway/lib/api-style'
import { isJsonObject, type JsonObject, jsonObjectOf, listOf, nonEmptyText } from 'guard-gateway/lib/json'
import { callOf, either, partsIn } from './gemini/contents.ts'
import { geminiSpeech } from './gemini/speech.ts'

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
