/** A sender as it is recorded: packages of npm at fixed versions, and the program that does the work with them. */
export interface RecordedSender {
  /** Its program and its recording are named so. */
  readonly id: string
  /** What `sender` of the recording says. */
  readonly title: string
  readonly packages: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Names of spans that tell of the program alone and are too many. */
  readonly left_out?: RegExp
  /** A script below `node_modules` that unpacks the sender. */
  readonly prepare?: string
}

const sdk = [
  '@opentelemetry/api@1.10.0',
  '@opentelemetry/sdk-trace-node@2.12.1',
  '@opentelemetry/sdk-trace-base@2.12.1',
  '@opentelemetry/exporter-trace-otlp-http@0.301.0',
  '@opentelemetry/resources@2.12.1',
  '@opentelemetry/instrumentation@0.301.0',
]
const proto = ['@opentelemetry/exporter-trace-otlp-proto@0.301.0', '@opentelemetry/context-async-hooks@2.12.1']
const openai = 'openai@7.57.0'
const anthropic = '@anthropic-ai/sdk@1.14.0'

const of = (id: string, packages: readonly string[], more: Partial<RecordedSender> = {}): RecordedSender => ({
  id,
  title: packages.filter((name) => !name.startsWith('@opentelemetry/') || /instrumentation-/.test(name)).join(', '),
  packages,
  ...more,
})

export const recordedSenders: readonly RecordedSender[] = [
  of('otel-openai', ['@opentelemetry/instrumentation-openai@0.22.0', openai, ...sdk]),
  of('openinference-openai', [
    '@arizeai/openinference-instrumentation-openai@4.2.7',
    '@arizeai/openinference-core@2.7.1',
    openai,
    ...sdk,
  ]),
  of('openinference-anthropic', [
    '@arizeai/openinference-instrumentation-anthropic@0.2.8',
    '@arizeai/openinference-core@2.7.1',
    anthropic,
    ...sdk,
  ]),
  of('traceloop-openai', ['@traceloop/instrumentation-openai@0.27.0', openai, ...sdk]),
  // its instrumentation knows no later version
  of('traceloop-anthropic', ['@traceloop/instrumentation-anthropic@0.27.0', '@anthropic-ai/sdk@0.68.0', ...sdk]),
  of('ai-sdk-5', ['ai@5.0.277', '@ai-sdk/openai@2.0.131', 'zod@4.6.7', ...sdk]),
  of('ai-sdk-7', ['ai@7.0.173', '@ai-sdk/otel@1.0.173', '@ai-sdk/openai@4.0.118', 'zod@4.6.7', ...sdk]),
  of('langfuse-openai', [
    '@langfuse/otel@5.11.1',
    '@langfuse/openai@5.11.1',
    '@langfuse/tracing@5.11.1',
    openai,
    ...sdk,
  ]),
  of('langsmith-openai', ['langsmith@0.12.0', openai, ...sdk, ...proto], {
    env: { LANGSMITH_TRACING: 'true', LANGSMITH_OTEL_ENABLED: 'true' },
  }),
  of('openinference-langchain', [
    '@arizeai/openinference-instrumentation-langchain@4.1.1',
    '@langchain/core@1.4.0',
    '@langchain/openai@1.5.8',
    'zod@4.6.7',
    ...sdk,
  ]),
  of('openinference-mcp', [
    '@arizeai/openinference-instrumentation-mcp@0.2.33',
    '@modelcontextprotocol/sdk@1.32.2',
    'zod@4.6.7',
    ...sdk,
  ]),
  of('openai-agents-openinference', [
    '@openai/agents@0.20.0',
    '@arizeai/openinference-instrumentation-openai-agents@0.2.15',
    'zod@4.6.7',
    ...sdk,
  ]),
  of('mastra-agent', [
    '@mastra/core@1.71.0',
    '@mastra/otel-exporter@1.4.0',
    '@mastra/observability@1.17.9',
    '@ai-sdk/openai@2.0.131',
    'zod@4.6.7',
    ...sdk,
    ...proto,
  ]),
  of('braintrust-otel', [
    '@braintrust/otel@1.0.1',
    'braintrust@3.35.0',
    '@opentelemetry/instrumentation-openai@0.22.0',
    openai,
    'zod@4.6.7',
    '@opentelemetry/core@2.12.1',
    ...sdk,
  ]),
  of('laminar', ['@lmnr-ai/lmnr@0.8.46', openai]),
  of('sentry', ['@sentry/node@11.12.0', openai], { title: '@sentry/node@11.12.0, carried over to OTLP' }),
  of('genkit', ['genkit@1.42.0', '@genkit-ai/compat-oai@1.42.0', ...sdk]),
  of('adk', ['@google/adk@2.0.0', 'zod@4.6.7', ...sdk]),
  of('claude-code', ['@anthropic-ai/claude-code@2.1.332'], { prepare: '@anthropic-ai/claude-code/install.cjs' }),
  of('codex', ['@openai/codex@0.171.0'], {
    left_out:
      /^(?:fs|mcp|skills?|environments?|agents_md|world_state|capability_roots|plugins?|realtime_\w+|session_init)[._]|append|persist|flush|record_|load|build_|add_|hooks|render|catalog|^(?:receiving|auth)$/,
  }),
  of('gemini-cli', ['@google/gemini-cli@0.61.0']),
]
