import type { Sender } from './sender.ts'

/** Genkit. Its own telemetry keeps usage in the output of a model action. */
export const genkit: Sender = {
  name: 'Genkit',
  source: 'recorded: genkit, @genkit-ai/compat-oai',
  scopes: /^genkit/,
  prefix: 'genkit:',
  names: {
    session: ['genkit:sessionId', 'genkit:metadata:sessionId'],
    span_title: ['genkit:name'],
  },
  holders: ['genkit:output'],
  title_is_model: true,
  kinds: {
    // it repeats the usage of its model
    'genkit:type': { util: 'other' },
    'genkit:metadata:subtype': {
      model: 'model',
      embedder: 'model',
      tool: 'tool',
      flow: 'agent',
      agent: 'agent',
      retriever: 'retrieval',
    },
  },
  failures: { 'genkit:state': ['error'] },
}
