import type { Sender } from './sender.ts'

/** Mastra. Steps, chunks and generations enclose the inference that has the usage. */
export const mastra: Sender = {
  name: 'Mastra',
  source: 'recorded: @mastra/core, @mastra/otel-exporter',
  prefix: 'mastra.',
  names: {
    session: ['mastra.metadata.sessionId', 'mastra.metadata.threadId'],
    tags: ['mastra.tags'],
  },
  kinds: {
    'mastra.span.type': {
      agent_run: 'agent',
      workflow_run: 'agent',
      model_inference: 'model',
      tool_call: 'tool',
      mcp_tool_call: 'tool',
    },
  },
}
