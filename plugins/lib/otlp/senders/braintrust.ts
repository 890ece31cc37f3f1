import type { Sender } from './sender.ts'

/** Braintrust, whose metrics and span attributes are JSON text. */
export const braintrust: Sender = {
  name: 'Braintrust',
  source: 'recorded: braintrust; names: braintrust.dev, OpenTelemetry',
  scopes: /braintrust/,
  prefix: 'braintrust.',
  names: {
    model: ['braintrust.metadata.model'],
    project: ['braintrust.project_name'],
    tags: ['braintrust.tags'],
    input: ['braintrust.metrics.prompt_tokens'],
    output: ['braintrust.metrics.completion_tokens'],
    total: ['braintrust.metrics.tokens'],
  },
  holders: ['braintrust.metrics'],
  kinds: {
    'braintrust.span_attributes.type': { llm: 'model', tool: 'tool', function: 'tool', task: null, eval: null },
  },
}
