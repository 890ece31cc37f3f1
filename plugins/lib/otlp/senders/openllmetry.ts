import type { Sender } from './sender.ts'

/** OpenLLMetry, the SDKs and instrumentations of Traceloop. */
export const openLlmetry: Sender = {
  name: 'Traceloop / OpenLLMetry',
  source: 'recorded: @traceloop/instrumentation-*; names: @traceloop/ai-semantic-conventions',
  names: {
    model: ['llm.request.model', 'llm.request.model_name'],
    response_model: ['llm.response.model'],
    session: ['traceloop.association.properties.session_id'],
    run_name: ['traceloop.workflow.name'],
    span_title: ['traceloop.entity.name'],
    input: ['llm.usage.prompt_tokens'],
    output: ['llm.usage.completion_tokens'],
    total: ['llm.usage.total_tokens'],
  },
  kinds: { 'traceloop.span.kind': { workflow: 'agent', agent: 'agent', tool: 'tool' } },
}

/** Its instrumentation of Anthropic passes the provider's counts on, where cached input stands beside the input. */
export const openLlmetryAnthropic: Sender = {
  name: 'Traceloop / OpenLLMetry, Anthropic',
  source: 'recorded: @traceloop/instrumentation-anthropic',
  scopes: /^(?:@traceloop\/instrumentation-|opentelemetry\.instrumentation\.)(?:anthropic|bedrock)$/,
  input_holds_cached: false,
  total_is_complete: false,
}
