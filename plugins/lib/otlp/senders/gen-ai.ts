import type { Sender } from './sender.ts'

/** Operations of the conventions, and values that senders put in their place. */
const operations = {
  chat: 'model',
  generate_content: 'model',
  text_completion: 'model',
  embeddings: 'model',
  execute_tool: 'tool',
  invoke_agent: 'agent',
  create_agent: 'agent',
  invoke_workflow: 'agent',
  retrieval: 'retrieval',
  plan: 'other',
} as const

/** The GenAI conventions of OpenTelemetry, with the spellings that they had before and have got since. */
export const genAi: Sender = {
  name: 'OpenTelemetry GenAI conventions',
  source: 'open-telemetry/semantic-conventions v1.41.1 and semantic-conventions-genai (cache_write, issue 440)',
  names: {
    model: ['gen_ai.request.model'],
    response_model: ['gen_ai.response.model'],
    tool: ['gen_ai.tool.name'],
    tool_call: ['gen_ai.tool.call.id', 'gen_ai.tool.call_id'],
    agent_id: ['gen_ai.agent.id'],
    agent: ['gen_ai.agent.name'],
    session: ['session.id', 'gen_ai.conversation.id'],
    run_name: ['gen_ai.workflow.name'],
    error_type: ['error.type'],
    status_message: ['error.message', 'exception.message'],
    finish_reasons: ['gen_ai.response.finish_reasons'],
    input: ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'],
    output: ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'],
    cache_read: ['gen_ai.usage.cache_read.input_tokens', 'gen_ai.usage.cache_read_input_tokens'],
    cache_write: [
      'gen_ai.usage.cache_creation.input_tokens',
      'gen_ai.usage.cache_write.input_tokens',
      'gen_ai.usage.cache_creation_input_tokens',
    ],
    cache_write_1h: ['guard.usage.cache_creation_1h.input_tokens'],
    reasoning: ['gen_ai.usage.reasoning.output_tokens', 'gen_ai.usage.reasoning_tokens'],
    total: ['gen_ai.usage.total_tokens'],
    cost: ['gen_ai.usage.cost'],
  },
  kinds: { 'gen_ai.operation.name': operations },
}
