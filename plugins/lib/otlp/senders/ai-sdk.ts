import type { SpanKind } from 'guard-gateway/core'
import type { Sender } from './sender.ts'

const calls = ['generateText', 'streamText', 'generateObject', 'streamObject', 'embed', 'embedMany', 'rerank']

const operations: Readonly<Record<string, SpanKind>> = {
  'ai.toolcall': 'tool',
  ...Object.fromEntries(calls.map((call): [string, SpanKind] => [`ai.${call}`.toLowerCase(), 'agent'])),
  ...Object.fromEntries(
    calls.flatMap((call) => steps(call).map((step): [string, SpanKind] => [step.toLowerCase(), 'model'])),
  ),
}

function steps(call: string): readonly string[] {
  return ['doGenerate', 'doStream', 'doEmbed', 'doRerank'].map((step) => `ai.${call}.${step}`)
}

/** `experimental_telemetry` of the AI SDK up to version 6; version 7 with `@ai-sdk/otel` follows the GenAI conventions. */
export const aiSdk: Sender = {
  name: 'AI SDK',
  source: 'recorded: ai 5, ai 7 with @ai-sdk/otel; names: ai-sdk.dev, Telemetry, collected data',
  prefix: 'ai.',
  names: {
    model: ['ai.model.id'],
    response_model: ['ai.response.model'],
    tool: ['ai.toolCall.name'],
    tool_call: ['ai.toolCall.id'],
    session: ['ai.telemetry.metadata.sessionId'],
    tags: ['ai.telemetry.metadata.tags'],
    span_title: ['ai.telemetry.functionId', 'resource.name'],
    input: ['ai.usage.inputTokens', 'ai.usage.promptTokens', 'ai.usage.tokens'],
    output: ['ai.usage.outputTokens', 'ai.usage.completionTokens'],
    cache_read: ['ai.usage.cachedInputTokens', 'ai.usage.inputTokenDetails.cacheReadTokens'],
    cache_write: ['ai.usage.inputTokenDetails.cacheWriteTokens'],
    uncached: ['ai.usage.inputTokenDetails.noCacheTokens'],
    reasoning: ['ai.usage.reasoningTokens', 'ai.usage.outputTokenDetails.reasoningTokens'],
    total: ['ai.usage.totalTokens'],
  },
  kinds: { 'ai.operationId': operations },
}
