import { aiSdk } from './ai-sdk.ts'
import { genAi } from './gen-ai.ts'
import type { Sender } from './sender.ts'

/** OpenInference, the conventions of Phoenix and Arize. */
const openInference: Sender = {
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

/** Langfuse. Its usage details are parts beside each other: cached input and reasoning stand beside input and output. */
const langfuse: Sender = {
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
const sentry: Sender = {
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

/** Genkit. Its own telemetry keeps usage in the output of a model action. */
const genkit: Sender = {
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

/** OpenLLMetry, the SDKs and instrumentations of Traceloop. */
const openLlmetry: Sender = {
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
const openLlmetryAnthropic: Sender = {
  name: 'Traceloop / OpenLLMetry, Anthropic',
  source: 'recorded: @traceloop/instrumentation-anthropic',
  scopes: /^(?:@traceloop\/instrumentation-|opentelemetry\.instrumentation\.)(?:anthropic|bedrock)$/,
  input_holds_cached: false,
  total_is_complete: false,
}

/** MLflow Tracing. Values are JSON text, so names stand in quotes. */
const mlflow: Sender = {
  name: 'MLflow',
  source: 'published names: mlflow.tracing.constant (SpanAttributeKey, TraceMetadataKey), mlflow.entities.SpanType',
  prefix: 'mlflow.',
  names: {
    model: ['mlflow.llm.model', 'mlflow.chat.model'],
    session: ['mlflow.trace.session'],
    run_name: ['mlflow.traceName'],
  },
  holders: ['mlflow.chat.tokenUsage', 'mlflow.llm.cost'],
  kinds: {
    'mlflow.spanType': {
      llm: 'model',
      chat_model: 'model',
      embedding: 'model',
      tool: 'tool',
      agent: 'agent',
      workflow: 'agent',
      retriever: 'retrieval',
      chain: null,
    },
  },
}

/** Braintrust. Its exporter forwards spans of any scope; its own fields on them are JSON text. */
const braintrust: Sender = {
  name: 'Braintrust',
  source: 'recorded: @braintrust/otel; names: braintrust.dev, OpenTelemetry attributes and events',
  prefix: 'braintrust.',
  names: {
    model: ['braintrust.metadata.model'],
    project: ['braintrust.parent'],
    tags: ['braintrust.tags'],
    input: ['braintrust.metrics.prompt_tokens'],
    output: ['braintrust.metrics.completion_tokens'],
    total: ['braintrust.metrics.tokens'],
    cache_read: ['braintrust.metrics.prompt_cached_tokens'],
    cache_write: ['braintrust.metrics.prompt_cache_creation_tokens'],
    reasoning: ['braintrust.metrics.completion_reasoning_tokens'],
    cost: ['braintrust.metrics.estimated_cost'],
  },
  holders: ['braintrust.metrics', 'braintrust.span_attributes', 'braintrust.metadata'],
  kinds: {
    'braintrust.span_attributes.type': { llm: 'model', tool: 'tool', function: 'tool', task: null, eval: null },
  },
}

/** Mastra. Steps, chunks and generations enclose the inference that has the usage. */
const mastra: Sender = {
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

/** Codex, whose spans are those of its parts: the one that handles a response has the usage, the ones around it the model. */
const codex: Sender = {
  name: 'Codex',
  source: 'recorded: @openai/codex',
  scopes: /^codex/,
  scoped: true,
  names: {
    model: ['model'],
    tool_call: ['call_id'],
    session: ['conversation.id', 'thread_id'],
    reasoning: ['codex.usage.reasoning_output_tokens'],
    total: ['codex.usage.total_tokens'],
  },
  kinds: { 'codex.tool.phase': { dispatch: 'tool' } },
  // the turn has the sums of its calls
  span_kinds: { 'session_task.turn': 'agent', 'codex.turn_input': 'agent' },
  model_elsewhere: true,
}

/** LangSmith. What it calls a session is a project; threads are its sessions. */
const langSmith: Sender = {
  name: 'LangSmith',
  source: 'recorded: langsmith; names: langsmith/experimental/otel/constants',
  scopes: /^langsmith/,
  names: {
    model: ['langsmith.metadata.ls_model_name'],
    session: ['langsmith.metadata.session_id', 'langsmith.metadata.thread_id', 'langsmith.metadata.conversation_id'],
    project: ['langsmith.trace.session_name'],
    tags: ['langsmith.span.tags'],
  },
  exceptions_fail: true,
  holders: ['langsmith.usage_metadata', 'langsmith.metadata.usage_metadata'],
  kinds: {
    'langsmith.span.kind': { llm: 'model', embedding: 'model', tool: 'tool', retriever: 'retrieval', chain: null },
  },
}

/** Pydantic AI and Logfire, which follow the GenAI conventions of several versions. */
const pydanticAi: Sender = {
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

/** Laminar. */
const laminar: Sender = {
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

/** Claude Code's traces. */
const claudeCode: Sender = {
  name: 'Claude Code',
  source: 'recorded: @anthropic-ai/claude-code; names: code.claude.com, Monitoring',
  scopes: /^com\.anthropic\.claude_code/,
  scoped: true,
  names: {
    model: ['model'],
    tool: ['tool_name'],
    tool_call: ['tool_use_id'],
    cost: ['cost_usd'],
  },
  failures: { success: [false, 'false'] },
}

/** Gemini CLI. Thoughts stand beside the output, as in the provider's usage. */
const geminiCli: Sender = {
  name: 'Gemini CLI',
  source: 'recorded: @google/gemini-cli',
  scopes: /^gemini-cli/,
  scoped: true,
  kinds: {
    'gen_ai.operation.name': { llm_call: 'model', tool_call: 'tool', agent_call: 'agent', user_prompt: 'agent' },
  },
  failures: { success: [false, 'false'] },
  output_holds_reasoning: false,
}

/** Google's Agent Development Kit. */
const adk: Sender = {
  name: 'Google ADK',
  source: 'recorded: @google/adk; names: google/adk-python telemetry/tracing',
  scopes: /^gcp\.vertex\.agent/,
  prefix: 'gcp.vertex.agent.',
  names: {
    session: ['gcp.vertex.agent.session_id'],
  },
  holders: ['gcp.vertex.agent.llm_response'],
  output_holds_reasoning: false,
}

/** OpenAI Agents, whose own exporter speaks no OTLP; bridges to OTLP follow OpenInference or the GenAI conventions. */
const openAiAgents: Sender = {
  name: 'OpenAI Agents',
  source: 'recorded: @openai/agents with @arizeai/openinference-instrumentation-openai-agents',
  scopes: /openai[-_.]agents/,
  names: {
    session: ['group_id', 'openai.agents.group_id'],
    run_name: ['workflow_name', 'openai.agents.workflow_name'],
  },
}

/** All senders and conventions, the ones that count first where a span follows several. */
export const senders: readonly Sender[] = [
  genAi,
  openInference,
  openLlmetry,
  openLlmetryAnthropic,
  aiSdk,
  langfuse,
  langSmith,
  mastra,
  mlflow,
  claudeCode,
  codex,
  geminiCli,
  pydanticAi,
  genkit,
  adk,
  sentry,
  braintrust,
  laminar,
  openAiAgents,
]
