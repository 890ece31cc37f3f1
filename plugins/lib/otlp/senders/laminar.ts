import type { Sender } from './sender.ts'

/** Laminar. */
export const laminar: Sender = {
  name: 'Laminar',
  source: 'recorded: @lmnr-ai/lmnr; names: lmnr-ai/lmnr-ts, lmnr-python (attributes)',
  scopes: /lmnr/,
  prefix: 'lmnr.',
  names: {
    session: ['lmnr.association.properties.session_id'],
    run_name: ['lmnr.association.properties.trace_name'],
    tags: ['lmnr.association.properties.tags', 'lmnr.span.tags'],
    cost_input: ['gen_ai.usage.input_cost'],
    cost_output: ['gen_ai.usage.output_cost'],
  },
  kinds: { 'lmnr.span.type': { llm: 'model', tool: 'tool', agent: 'agent', default: null } },
}
