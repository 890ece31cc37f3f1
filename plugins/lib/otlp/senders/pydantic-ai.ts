import type { Sender } from './sender.ts'

/** Pydantic AI and Logfire, which follow the GenAI conventions of several versions. */
export const pydanticAi: Sender = {
  name: 'Pydantic AI / Logfire',
  source: 'published names: pydantic/pydantic-ai (InstrumentationSettings versions 1 to 4), genai-prices',
  scopes: /^pydantic-ai|^logfire/,
  // before it followed the conventions for agents
  span_kinds: { 'agent run': 'agent' },
  names: {
    agent: ['agent_name'],
    cost: ['operation.cost'],
    cache_read: ['gen_ai.usage.details.cache_read_tokens', 'gen_ai.usage.details.cache_read_input_tokens'],
    cache_write: ['gen_ai.usage.details.cache_write_tokens', 'gen_ai.usage.details.cache_creation_input_tokens'],
    reasoning: ['gen_ai.usage.details.reasoning_tokens'],
  },
}
