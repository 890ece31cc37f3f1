import { hash } from 'node:crypto'
import type { Attributes } from 'guard-gateway/core'
import { isJsonObject } from '#lib/json'
import { TOOL_ERROR } from '#lib/trace'

/** Longer texts are found by the presence of their name. */
const MAX_VALUE_CHARS = 256
/** Larger integers are sizes and times, which are looked for by range. */
const MAX_INTEGER = 1_000_000
/** A run with more search tokens gets none of attributes. */
const MAX_TOKENS = 19_000

/** The search token of an attribute that equals a text. */
export const valueToken = (name: string, value: string): string =>
  `_attr_${hash('sha256', `${name}=${value}`, 'hex').slice(0, 16)}`

/** The search token of an attribute of any value. */
export const nameToken = (name: string): string => `_has_${hash('sha256', name, 'hex').slice(0, 16)}`

/** The text of a value that an index entry may have; undefined if its name alone is indexed. */
const indexedText = (value: unknown): string | undefined => {
  switch (typeof value) {
    case 'boolean':
      return String(value)
    case 'number':
    case 'bigint':
      return Number.isInteger(Number(value)) && Math.abs(Number(value)) < MAX_INTEGER ? String(value) : undefined
    case 'string':
      if (value.length > MAX_VALUE_CHARS) return undefined
      return isNumeric(value) ? (indexedText(Number(value)) ?? value) : value
    default:
      return undefined
  }
}

/**
 * The token of an attribute with this value, else of any value; undefined if no index leads to the runs that have it: that a tool failed
 * follows from a later request when a run is read.
 */
export const tokenOf = (name: string, value?: string): string | undefined => {
  if (name === 'error.type' && value === TOOL_ERROR) return undefined
  if (value !== undefined && !VARYING.has(name) && isIndexed(value)) return valueToken(name, value)
  return isUsual(name) ? undefined : nameToken(name)
}

/** Several texts stand for one number, such as `5` and `5.0`; the index has one of them, of texts and numbers alike. */
const isIndexed = (text: string): boolean =>
  isNumeric(text) ? indexedText(Number(text)) === text : indexedText(text) !== undefined

/** True for a text that stands for a number. */
export const isNumeric = (text: string): boolean => text.trim() !== '' && Number.isFinite(Number(text))

/** Adds the tokens of attributes. */
export const addAttributes = (words: Set<string>, attributes: Attributes): void => {
  for (const [name, value] of Object.entries(attributes)) addAttribute(words, name, value)
}

/** Adds the tokens of one attribute: of its name, its value or each of its elements, and its members. */
export const addAttribute = (words: Set<string>, name: string, value: unknown): void => {
  if (value === null || value === undefined || words.size >= MAX_TOKENS) return
  if (!isUsual(name)) words.add(nameToken(name))
  if (Array.isArray(value)) {
    for (const element of value) addValue(words, name, element)
    return
  }
  if (isJsonObject(value)) {
    for (const [member, inner] of Object.entries(value)) addAttribute(words, `${name}.${member}`, inner)
    return
  }
  addValue(words, name, value)
}

const addValue = (words: Set<string>, name: string, value: unknown): void => {
  if (words.size >= MAX_TOKENS) return
  const text = VARYING.has(name) ? undefined : indexedText(value)
  if (text !== undefined) words.add(valueToken(name, text))
}

/** Attributes of recorded requests and tool calls that differ from one to the next. Their values are not indexed. */
const VARYING: ReadonlySet<string> = new Set([
  'gen_ai.request.max_tokens',
  'gen_ai.request.temperature',
  'gen_ai.response.id',
  'gen_ai.response.time_to_first_chunk',
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.output_tokens',
  'gen_ai.usage.cache_read.input_tokens',
  'gen_ai.usage.cache_creation.input_tokens',
  'gen_ai.usage.reasoning.output_tokens',
  'gen_ai.tool.call.id',
  'guard.request_id',
  'guard.cost_micro',
  'guard.fingerprint',
  'guard.error_fingerprint',
  'guard.argument_hash',
  'guard.approval_id',
  'guard.tool.observed',
  'guard.preview.input',
  'guard.preview.output',
  'mcp.session.id',
  'jsonrpc.request.id',
  'argument_hash',
  'approval_id',
  'bytes',
  'retries',
  'last_at',
  'last_request_id',
  'probe',
  'faults',
  'matches',
])

/** Further attributes of recorded requests and tool calls. */
const RECORDED: ReadonlySet<string> = new Set([
  'gen_ai.operation.name',
  'gen_ai.provider.name',
  'gen_ai.request.model',
  'gen_ai.request.stream',
  'gen_ai.response.model',
  'gen_ai.response.finish_reasons',
  'gen_ai.response.service_tier',
  'gen_ai.tool.name',
  'server.address',
  'http.response.status_code',
  'error.type',
  'network.transport',
  'guard.api_style',
  'guard.mode',
  'guard.decision',
  'guard.reason',
  'guard.rule_id',
  'guard.usage_source',
  'guard.outcome',
  'guard.cost_source',
  'guard.price_version',
  'guard.mcp.server_id',
  'guard.forwarded',
  'guard.inference_geo',
  'mcp.method.name',
  'mcp.protocol.version',
  'decision',
  'mode',
  'reason_code',
  'reason',
  'rule_id',
  'rule_ids',
  'rule_type',
  'action',
  'policy_version',
  'forwarded',
  'upstream',
  'style',
  'model',
  'outcome',
  'server_id',
  'tool',
])

/** True for an attribute that most runs have, so that an index of its presence would lead nowhere. */
export const isUsual = (name: string): boolean => VARYING.has(name) || RECORDED.has(name)
