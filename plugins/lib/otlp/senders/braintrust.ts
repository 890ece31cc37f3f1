import type { Sender } from './sender.ts'

/** Braintrust. Its exporter forwards spans of any scope; its own fields on them are JSON text. */
export const braintrust: Sender = {
  name: 'Braintrust',
  source: 'recorded: @braintrust/otel; names: braintrust.dev, OpenTelemetry attributes and events',
  prefix: 'braintrust.',
  names: {
    model: ['braintrust.metadata.model'],
    project: ['braintrust.parent'],
    tags: ['braintrust.tags'],
    input: ['braintrust.metrics.prompt_tokens'],
    output: ['braintrust.metrics.completion_tokens'],
    total: ['braintrust.metrics.tokens'],
    cache_read: ['braintrust.metrics.prompt_cached_tokens'],
    cache_write: ['braintrust.metrics.prompt_cache_creation_tokens'],
    reasoning: ['braintrust.metrics.completion_reasoning_tokens'],
    cost: ['braintrust.metrics.estimated_cost'],
  },
  holders: ['braintrust.metrics', 'braintrust.span_attributes', 'braintrust.metadata'],
  kinds: {
    'braintrust.span_attributes.type': { llm: 'model', tool: 'tool', function: 'tool', task: null, eval: null },
  },
}
