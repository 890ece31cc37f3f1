import type { Sender } from './sender.ts'

/** OpenInference, the conventions of Phoenix and Arize. */
export const openInference: Sender = {
  name: 'OpenInference',
  source: 'recorded: @arizeai/openinference-instrumentation-*; names: OpenInference semantic conventions',
  scopes: /openinference/,
  names: {
    model: ['llm.model_name', 'embedding.model_name', 'reranker.model_name'],
    tool: ['tool.name'],
    tool_call: ['tool.id', 'tool_call.id'],
    agent: ['agent.name'],
    project: ['openinference.project.name'],
    tags: ['tag.tags'],
    input: ['llm.token_count.prompt'],
    output: ['llm.token_count.completion'],
    cache_read: ['llm.token_count.prompt_details.cache_read', 'llm.token_count.prompt_details.cache_input'],
    cache_write: ['llm.token_count.prompt_details.cache_write'],
    reasoning: ['llm.token_count.completion_details.reasoning'],
    total: ['llm.token_count.total'],
    cost: ['llm.cost.total'],
    cost_input: ['llm.cost.prompt'],
    cost_output: ['llm.cost.completion'],
  },
  kinds: {
    'openinference.span.kind': {
      llm: 'model',
      embedding: 'model',
      reranker: 'model',
      tool: 'tool',
      agent: 'agent',
      retriever: 'retrieval',
      chain: null,
    },
  },
}
