import type { Sender } from './sender.ts'

const operations = {
  'gen_ai.chat': 'model',
  'gen_ai.generate_text': 'model',
  'gen_ai.generate_content': 'model',
  'gen_ai.embeddings': 'model',
  'gen_ai.request': 'model',
  'gen_ai.execute_tool': 'tool',
  'gen_ai.invoke_agent': 'agent',
  'gen_ai.create_agent': 'agent',
} as const

/** Sentry. Its `gen_ai.cost.*_tokens` are amounts in US dollars. */
export const sentry: Sender = {
  name: 'Sentry',
  source: 'recorded: @sentry/node; names: getsentry/sentry-conventions (gen_ai)',
  scopes: /sentry/,
  prefix: 'sentry.',
  names: {
    cost: ['gen_ai.cost.total_tokens'],
    cost_input: ['gen_ai.cost.input_tokens'],
    cost_output: ['gen_ai.cost.output_tokens'],
    cache_read: ['gen_ai.usage.input_tokens.cached'],
    cache_write: ['gen_ai.usage.input_tokens.cache_write'],
    reasoning: ['gen_ai.usage.output_tokens.reasoning'],
    agent: ['gen_ai.pipeline.name'],
  },
  kinds: { 'sentry.op': operations, 'gen_ai.operation.type': { ai_client: 'model', tool: 'tool', agent: 'agent' } },
}
