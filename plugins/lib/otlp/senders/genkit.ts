import type { Sender } from './sender.ts'

/** Genkit. Its own telemetry keeps usage in the output of a model action. */
export const genkit: Sender = {
  name: 'Genkit',
  source: 'recorded: genkit',
  scopes: /^genkit/,
  prefix: 'genkit:',
  names: {
    session: ['genkit:sessionId', 'genkit:metadata:sessionId'],
  },
  holders: ['genkit:usage'],
  kinds: {
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
