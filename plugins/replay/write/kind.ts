import type { Attributes, SpanDraft, SpanKind } from 'guard-gateway/core'
import type { SpanRow } from '../tables.ts'

const OPERATIONS: ReadonlyMap<unknown, SpanKind> = new Map<unknown, SpanKind>([
  ['chat', 'model'],
  ['generate_content', 'model'],
  ['text_completion', 'model'],
  ['embeddings', 'model'],
  ['execute_tool', 'tool'],
  ['invoke_agent', 'agent'],
  ['create_agent', 'agent'],
  ['invoke_workflow', 'agent'],
  ['retrieval', 'retrieval'],
  // a phase of an agent, around its calls
  ['plan', 'other'],
])

const NAMES: readonly (readonly [RegExp, SpanKind])[] = [
  [/^agent\.run$/, 'agent'],
  [/^gen_ai\./, 'model'],
  [/^tool\./, 'tool'],
  [/^command\./, 'command'],
  [/^(?:policy|approval)\./, 'policy'],
]

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''

/** Whether a span tells what a model call used. */
const hasUsage = (attributes: Attributes): boolean =>
  countOf(attributes['gen_ai.usage.input_tokens']) !== null ||
  countOf(attributes['gen_ai.usage.output_tokens']) !== null

/** The kind that a span's facts suggest: usage or a requested model make a model call, a tool's name a tool. */
const suggestedKind = (attributes: Attributes): SpanKind => {
  if (hasUsage(attributes)) return 'model'
  if (isText(attributes['gen_ai.tool.name'])) return 'tool'
  return isText(attributes['gen_ai.request.model']) ? 'model' : 'other'
}

/** The kind of a span without an explicit one: by an operation of the conventions, else by its name, else by what it tells. */
export const kindOf = (name: string, attributes: Attributes): SpanKind =>
  OPERATIONS.get(attributes['gen_ai.operation.name']) ??
  NAMES.find(([pattern]) => pattern.test(name))?.[1] ??
  suggestedKind(attributes)

/** The kind of a merged span; `attributes` are the merged ones. A derived kind is derived again. */
export const mergedKind = (draft: SpanDraft, old: SpanRow | undefined, attributes: Attributes): SpanKind => {
  const explicit = old === undefined || old.kind === kindOf(old.name, old.attributes) ? undefined : old.kind
  return draft.kind ?? explicit ?? kindOf(draft.name, attributes)
}

const LABELS = ['gen_ai.tool.name', 'tool.name', 'gen_ai.request.model', 'model', 'process.command', 'command'] as const
const LABEL_CHARS = 128

/** Tool, model or command of a span, at most 128 characters; null if it names none. */
export const labelOf = (attributes: Attributes): string | null => {
  const label = LABELS.map((name) => attributes[name]).find((value) => typeof value === 'string' && value !== '')
  return typeof label === 'string' ? label.slice(0, LABEL_CHARS).toWellFormed() : null
}

/** Model, tokens and cost of a span. */
export interface ModelUse {
  readonly model: string | null
  /** All input, cached included. */
  readonly input_tokens: bigint | null
  readonly output_tokens: bigint | null
  readonly cost_micro: bigint | null
}

const NO_USE: ModelUse = { model: null, input_tokens: null, output_tokens: null, cost_micro: null }

/** Kinds whose usage counts: those of calls of a model, and of what wraps such calls, which may be all that a sender tells. */
const USING: ReadonlySet<SpanKind> = new Set(['model', 'agent', 'other'])

/** Whether tokens and cost of a span count, unless a span below it tells of them too. */
export const countsUsage = (kind: SpanKind): boolean => USING.has(kind)

/** Model, tokens and cost of a span; all null for a kind whose usage does not count. */
export const modelUse = (kind: SpanKind, attributes: Attributes): ModelUse => {
  if (!countsUsage(kind)) return NO_USE
  const model = ['gen_ai.response.model', 'gen_ai.request.model', 'model']
    .map((name) => attributes[name])
    .find((value) => typeof value === 'string')
  return {
    model: typeof model === 'string' ? model : null,
    input_tokens: countOf(attributes['gen_ai.usage.input_tokens']),
    output_tokens: countOf(attributes['gen_ai.usage.output_tokens']),
    cost_micro: countOf(attributes['guard.cost_micro']),
  }
}

/** Larger counts do not fit their column. */
const MAX_COUNT = 1n << 53n

/** A count as a bigint; null for any other value. */
export const countOf = (value: unknown): bigint | null => {
  const count =
    typeof value === 'bigint' ? value : typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : -1n
  return count >= 0n && count <= MAX_COUNT ? count : null
}
