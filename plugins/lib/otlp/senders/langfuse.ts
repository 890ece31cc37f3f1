import type { Sender } from './sender.ts'

/** Langfuse. Its usage details are parts beside each other: cached input and reasoning stand beside input and output. */
export const langfuse: Sender = {
  name: 'Langfuse',
  source: 'recorded: @langfuse/otel, @langfuse/openai; names: langfuse.com, OpenTelemetry, property mapping',
  scopes: /^langfuse-sdk/,
  prefix: 'langfuse.',
  names: {
    model: ['langfuse.observation.model.name'],
    session: ['langfuse.session.id', 'langfuse.trace.metadata.session_id'],
    run_name: ['langfuse.trace.name'],
    tags: ['langfuse.trace.tags'],
    status_message: ['langfuse.observation.status_message'],
    cost: ['langfuse.observation.cost_details.total'],
  },
  holders: ['langfuse.observation.usage_details', 'langfuse.observation.usage', 'langfuse.observation.cost_details'],
  kinds: {
    'langfuse.observation.type': {
      generation: 'model',
      embedding: 'model',
      tool: 'tool',
      agent: 'agent',
      retriever: 'retrieval',
      guardrail: 'policy',
    },
  },
  failures: { 'langfuse.observation.level': ['error'] },
  input_holds_cached: false,
  output_holds_reasoning: false,
}
