import type { Attributes, SpanKind } from 'guard-gateway/core'
import { semconv } from './names.ts'

/** What the conventions call a thing now, and what earlier versions of them and other conventions call it. */
const spellings: readonly (readonly [name: string, others: readonly string[]])[] = [
  [semconv.model, ['llm.request.model_name', 'llm.model_name', 'llm.request.model', 'embedding.model_name']],
  ['gen_ai.usage.input_tokens', ['gen_ai.usage.prompt_tokens', 'llm.token_count.prompt', 'llm.usage.prompt_tokens']],
  [
    'gen_ai.usage.output_tokens',
    ['gen_ai.usage.completion_tokens', 'llm.token_count.completion', 'llm.usage.completion_tokens'],
  ],
  [
    'gen_ai.usage.cache_read.input_tokens',
    ['gen_ai.usage.cache_read_input_tokens', 'llm.token_count.prompt_details.cache_read', 'ai.usage.cachedInputTokens'],
  ],
  [
    'gen_ai.usage.cache_creation.input_tokens',
    ['gen_ai.usage.cache_creation_input_tokens', 'llm.token_count.prompt_details.cache_write'],
  ],
  [
    'gen_ai.usage.reasoning.output_tokens',
    ['gen_ai.usage.reasoning_tokens', 'llm.token_count.completion_details.reasoning', 'ai.usage.reasoningTokens'],
  ],
  [semconv.tool, ['ai.toolCall.name']],
]

/** What is not called by its name of today, under that name; no others. */
export const normalised = (attributes: Attributes): Attributes => {
  const added: Record<string, unknown> = {}
  for (const [name, others] of spellings) {
    const other = Object.hasOwn(attributes, name) ? undefined : others.find((one) => Object.hasOwn(attributes, one))
    if (other !== undefined) added[name] = attributes[other]
  }
  return added
}

const kindsOf: readonly (readonly [name: string, kinds: ReadonlyMap<unknown, SpanKind>])[] = [
  [
    'openinference.span.kind',
    new Map<unknown, SpanKind>([
      ['LLM', 'model'],
      ['EMBEDDING', 'model'],
      ['TOOL', 'tool'],
      ['AGENT', 'agent'],
      ['RETRIEVER', 'retrieval'],
    ]),
  ],
  [
    'traceloop.span.kind',
    new Map<unknown, SpanKind>([
      ['workflow', 'agent'],
      ['agent', 'agent'],
      ['tool', 'tool'],
    ]),
  ],
  [
    'langsmith.span.kind',
    new Map<unknown, SpanKind>([
      ['llm', 'model'],
      ['tool', 'tool'],
      ['retriever', 'retrieval'],
    ]),
  ],
  ['ai.operationId', new Map<unknown, SpanKind>([['ai.toolCall', 'tool']])],
]

/** The kind that another convention says, where the span names no operation of ours; undefined if none does. */
export const declaredKind = (attributes: Attributes): SpanKind | undefined =>
  Object.hasOwn(attributes, semconv.operation)
    ? undefined
    : kindsOf.map(([name, kinds]) => kinds.get(attributes[name])).find((kind) => kind !== undefined)
