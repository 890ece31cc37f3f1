import type { Part } from 'guard-gateway/core'
import {
  callPart,
  contentOf,
  contentParts,
  genericCall,
  isErrorResult,
  messageParts,
  noContent,
  providerResultPart,
  resultPart,
  unknownParts,
} from 'guard-gateway/lib/api-style'
import { firstOf, isJsonObject, type JsonObject, jsonObjectOf, nonEmptyText } from 'guard-gateway/lib/json'

/** The parts of one item of a conversation. */
export const itemParts = (element: unknown): readonly Part[] => {
  const item = jsonObjectOf(element)
  const generic = genericCall(item)
  if (generic !== undefined) return [generic]
  const type = nonEmptyText(item.type) ?? 'message'
  if (Object.hasOwn(itemReaders, type)) return itemReaders[type]?.(item) ?? []
  if (type.endsWith('_call')) return callParts(item, type)
  return type.endsWith('_output') ? [outputPart(item)] : unknownParts(element)
}

const spokenParts = (item: JsonObject): Part[] => {
  const kind = kinds.get(item.role)
  if (kind === undefined) return unknownParts(item)
  return messageParts(kind, contentOf(item.content))
}

const kinds = new Map<unknown, 'system' | 'user' | 'text'>([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['assistant', 'text'],
])

/** An array keeps what would be dropped as a volatile member, for here it is the content. */
const standIn = (item: JsonObject, content: unknown): Part[] =>
  contentParts('text', { texts: [], blocks: [[item.type, content ?? null]], calls: [] })

const itemReaders: Readonly<Record<string, (item: JsonObject) => Part[]>> = {
  message: spokenParts,
  reasoning: () => [],
  // Both stand for something the model said: as a user's word they would end every repetition.
  item_reference: (item) => standIn(item, item.id),
  compaction: (item) => standIn(item, item.encrypted_content),
  // Definitions, not calls.
  additional_tools: unknownParts,
  tool_search_output: (item) => [
    resultPart(item.call_id, { texts: [], blocks: [item.tools ?? null], calls: [] }, isErrorResult(item) || null),
  ],
}

/** A call, and its own output where the provider ran the tool. */
const callParts = (item: JsonObject, type: string): Part[] => {
  const id = nonEmptyText(item.call_id) ?? nonEmptyText(item.id)
  const label = nonEmptyText(item.namespace) ?? nonEmptyText(item.server_label)
  const name = nonEmptyText(item.name) ?? type
  const call = callPart(label === null ? name : `${label}.${name}`, argumentsOf(item), id)
  const error = firstOf(item.error)
  const output = firstOf(
    item.output,
    item.outputs,
    item.results,
    sourcesOf(item),
    nonEmptyText(jsonObjectOf(error).message),
    error,
  )
  if (output !== undefined)
    return [
      call,
      providerResultPart(resultPart(id, contentOf(output), error !== undefined || isErrorResult(item) || null)),
    ]
  const image = nonEmptyText(item.result)
  if (image !== null) return [call, providerResultPart(resultPart(id, { texts: [], blocks: [image], calls: [] }, null))]
  return served.has(type)
    ? [call, providerResultPart(resultPart(id, noContent(), isErrorResult(item) || null))]
    : [call]
}

/** Tools that run at the provider, also where the item does not tell what they gave. */
const served: ReadonlySet<string> = new Set([
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'mcp_call',
])

/** What a search found stands among what it asked, if it was asked for. */
const sourcesOf = ({ action }: JsonObject): unknown => jsonObjectOf(action).sources

/** What a call was asked, under whichever name its type has for it. */
export const argumentsOf = (item: JsonObject): unknown =>
  firstOf(item.arguments, item.input, actionInput(item.action), item.operation, item.actions, item.queries, item.code)

const actionInput = (action: unknown): unknown => {
  if (!isJsonObject(action) || action.sources === undefined) return action
  const { sources: _, ...rest } = action
  return rest
}

const outputPart = (item: JsonObject): Part =>
  resultPart(item.call_id, contentOf(item.output), isErrorResult(item) || isErrorResult(item.output) || null)
