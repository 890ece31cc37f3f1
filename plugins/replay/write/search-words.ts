import type { Attributes, CallTrace, FragmentRun } from 'guard-gateway/core'
import { addTokens } from '#lib/text'
import { type CallRecord, callRecords, type ToolRecord, toolRecords } from '#lib/trace'
import type { EventRow, RunRow, SpanRow } from '../tables.ts'
import { addAttribute, addAttributes } from './attribute-index.ts'

const VALUE_CHARS = 256
const MAX_WORDS = 20_000
/** Limits for words of spans and events, and for models and tools: lower, so that a large run is still found by its own words. */
const MAX_TEXT_WORDS = 18_000
const MAX_FACETS = 19_000

/** The search token of a tag, model or tool, whatever characters it has. */
export const facet = (kind: 'tag' | 'model' | 'tool', value: string): string =>
  `_${kind}_${Buffer.from(value).toString('hex')}`

const add = (words: Set<string>, text: string | null | undefined, max = MAX_TEXT_WORDS): void => {
  if (typeof text === 'string' && text !== '') addTokens(words, text.slice(0, VALUE_CHARS), max)
}

const addFacet = (words: Set<string>, kind: 'model' | 'tool', value: unknown): void => {
  if (typeof value === 'string' && words.size < MAX_FACETS) words.add(facet(kind, value))
}

const addValues = (words: Set<string>, attributes: Attributes): void => {
  for (const value of Object.values(attributes)) if (typeof value === 'string') add(words, value)
  addAttributes(words, attributes)
}

/** Words of the run itself. */
export const runWords = (run: RunRow): readonly string[] => {
  const words = new Set<string>()
  const { trace_id, source_trace_id, name, agent_id, agent_name, task_id, project_id, session_id, tags } = run
  for (const text of [trace_id, source_trace_id, agent_id, project_id, session_id]) add(words, text, MAX_WORDS)
  for (const tag of tags) words.add(facet('tag', tag))
  for (const text of [name, agent_name, task_id, ...tags]) add(words, text, MAX_WORDS)
  addAttributes(words, run.attributes)
  return [...words]
}

/** The stored words of a run: its own come before those of its records. */
export const storedWords = (own: readonly string[], records: ReadonlySet<string>): string[] =>
  [...new Set([...own, ...records])].slice(0, MAX_WORDS)

/** True if a fragment changes words of the run itself. */
export const changesWords = (run: FragmentRun): boolean => WORD_FIELDS.some((name) => run[name] !== undefined)

const WORD_FIELDS = [
  'name',
  'agent_name',
  'default_agent_name',
  'default_name',
  'default_tags',
  'agent_id',
  'session_id',
  'joined_by',
  'task_id',
  'tags',
  'attributes',
] as const satisfies readonly (keyof FragmentRun)[]

export const addSpanWords = (words: Set<string>, span: SpanRow): void => {
  add(words, span.name)
  add(words, span.label)
  add(words, span.status_message)
  addValues(words, span.attributes)
  addFacet(words, 'model', span.model)
  addFacet(words, 'model', span.attributes['gen_ai.request.model'])
  addFacet(words, 'tool', span.attributes['gen_ai.tool.name'] ?? span.attributes['tool.name'])
}

export const addEventWords = (words: Set<string>, event: EventRow): void => {
  add(words, event.name)
  addValues(words, event.attributes)
}

/** True if a new version of a record lacks words of the old one. */
export const losesWords = <R>(old: R, row: R, addWords: (words: Set<string>, record: R) => void): boolean => {
  const [before, now] = [new Set<string>(), new Set<string>()]
  addWords(before, old)
  addWords(now, row)
  for (const word of before) if (!now.has(word)) return true
  return false
}

/** Adds words of a model request, not its unique ids and hashes. Names from outside are redacted first. */
export const addCallWords = (words: Set<string>, call: CallRecord, redact: (text: string) => string): void => {
  addName(words, 'gen_ai.request', 'request')
  addName(words, 'policy.decision', 'decision')
  addNameAndFacet(words, 'model', redact(call.model_requested))
  if (call.model_replied !== null) addNameAndFacet(words, 'model', redact(call.model_replied))
  for (const text of [call.upstream, call.decision, call.outcome, call.reason, call.rule_id]) addName(words, text, text)
  if (call.error_type !== null) addName(words, redact(call.error_type), call.error_type)
  for (const { tool } of call.tool_calls ?? []) {
    addName(words, 'tool.call', 'call')
    addNameAndFacet(words, 'tool', tool)
    addAttribute(words, 'gen_ai.operation.name', 'execute_tool')
    addAttribute(words, 'gen_ai.tool.name', tool)
  }
  addAttribute(words, 'gen_ai.response.finish_reasons', call.finish_reason)
}

/** Adds the attributes of a model request and of its decision. */
export const addCallAttributes = (words: Set<string>, call: CallRecord, trace: CallTrace): void => {
  const { spans, event } = callRecords(call, trace)
  for (const { attributes } of [...spans, event]) addAttributes(words, attributes)
}

/** Words of a tool call, not its unique ids and hashes. */
export const toolWords = (record: ToolRecord): ReadonlySet<string> => {
  const words = new Set<string>()
  const { tool, action, mode, reason_code, reason, outcome, server_id, rule_ids } = record
  for (const text of ['tool.call', 'policy.decision', 'execute_tool', 'tools/call', tool, server_id]) add(words, text)
  for (const text of [action, mode, reason_code, reason, outcome, rule_ids?.[0]]) add(words, text)
  addFacet(words, 'tool', tool)
  const { span, event } = toolRecords(record)
  addAttributes(words, span.attributes)
  addAttributes(words, event.attributes)
  return words
}

/** Adds a name unless `word`, a part of it, is there already. */
const addName = (words: Set<string>, name: string | null, word: string | null): void => {
  if (name !== null && word !== null && !words.has(word.toLowerCase())) add(words, name)
}

const addNameAndFacet = (words: Set<string>, kind: 'model' | 'tool', name: string): void => {
  const token = facet(kind, name)
  if (words.has(token)) return
  words.add(token)
  add(words, name)
}
