import type { Part } from 'guard-gateway/core'
import {
  addBlock,
  type Content,
  callPart,
  contentOf,
  contentParts,
  isErrorResult,
  messageParts,
  noContent,
  providerResultPart,
  resultPart,
} from 'guard-gateway/lib/api-style'
import { firstOf, isJsonObject, type JsonObject, jsonObjectOf, listOf } from 'guard-gateway/lib/json'

/** Google reads names of members in both spellings. */
export const either = (object: JsonObject, camel: string, snake: string): unknown =>
  firstOf(object[camel], object[snake])

/** The call that a part is: of a function, or of code that runs at the provider. */
export const callOf = (part: JsonObject): Extract<Part, { kind: 'call' }> | undefined => {
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
  const said = firstOf(response.output, response.error, response.content, response.result) ?? answer.response
  const failed = firstOf(response.error) !== undefined || isErrorResult(response) ? true : null
  return resultPart(answer.id, contentOf(Array.isArray(answer.parts) ? [said, ...answer.parts] : said), failed)
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
export const partsIn = (kind: 'system' | 'user' | 'model', parts: unknown): Part[] => {
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
