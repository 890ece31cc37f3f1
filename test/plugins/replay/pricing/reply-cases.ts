import { gemini } from 'guard-gateway/plugins/api-styles/gemini'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { chatCases, type ReplyCase, sse } from './chat-reply-cases.ts'

/** Prices of the replies below. */
export const FILE = `version: 1
currency: USD
models:
  gpt-x:
    input: 2000000
    output: 10000000
    cache_read: 200000
    cache_write_5m: 2500000
    tiers: [{ above: 272000, input: 4000000, output: 15000000, cache_read: 400000 }]
    service_tiers: { batch: 0.5, flex: 0.5, priority: 2 }
  claude-x:
    input: 4000000
    output: 20000000
    cache_read: 400000
    cache_write_5m: 5000000
    cache_write_1h: 8000000
    service_tiers: { batch: 0.5, fast: 2 }
    regions: { us: 1.1 }
  grok-x: { input: 1250000, output: 2500000, cache_read: 200000 }
  kimi-x: { input: 3000000, output: 15000000, cache_read: 300000 }
  gemini-x: { input: 1000000, output: 8000000, cache_read: 100000, service_tiers: { priority: 1.8, flex: 0.5 } }
`

const response = (usage: object, service_tier: string) => ({
  id: 'resp_1',
  status: 'completed',
  model: 'gpt-x',
  service_tier,
  output: [],
  usage,
})
const message = (usage: object) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-x',
  content: [],
  stop_reason: 'end_turn',
  usage,
})
const generated = (usageMetadata: object) => ({
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
  modelVersion: 'gemini-x',
  responseId: 'r1',
  usageMetadata,
})

export const cases: readonly ReplyCase[] = [
  ...chatCases,
  {
    name: 'Responses with a long prompt',
    style: responses,
    body: response(
      { input_tokens: 300_000, output_tokens: 1_000, input_tokens_details: { cached_tokens: 100_000 } },
      'default',
    ),
    cost: 800_000 + 40_000 + 15_000,
    tier: 'default',
  },
  {
    name: 'streamed Responses, whose tier is known at the end',
    style: responses,
    body: sse(
      {
        type: 'response.created',
        response: { id: 'resp_1', status: 'in_progress', model: 'gpt-x', service_tier: 'auto' },
      },
      { type: 'response.output_text.delta', delta: 'Hi' },
      { type: 'response.completed', response: response({ input_tokens: 1_000, output_tokens: 100 }, 'priority') },
    ),
    cost: 6_000,
    tier: 'priority',
  },
  {
    name: 'Messages with cache writes of both lifetimes, in the United States',
    style: messages,
    body: message({
      input_tokens: 1_000,
      cache_read_input_tokens: 10_000,
      cache_creation_input_tokens: 3_000,
      cache_creation: { ephemeral_5m_input_tokens: 2_000, ephemeral_1h_input_tokens: 1_000 },
      output_tokens: 100,
      service_tier: 'standard',
      inference_geo: 'us',
    }),
    cost: 1.1 * (4_000 + 4_000 + 10_000 + 8_000 + 2_000),
    tier: 'standard',
    geo: 'us',
  },
  {
    name: 'Messages of a batch',
    style: messages,
    body: message({ input_tokens: 1_000, output_tokens: 100, service_tier: 'batch' }),
    cost: 3_000,
    tier: 'batch',
  },
  {
    name: 'Messages of reserved capacity, which has no price here',
    style: messages,
    body: message({ input_tokens: 1_000, output_tokens: 100, service_tier: 'priority', inference_geo: 'global' }),
    cost: 6_000,
    tier: 'priority',
    geo: 'global',
  },
  {
    name: 'streamed Messages in fast mode',
    style: messages,
    body: sse(
      {
        type: 'message_start',
        message: {
          ...message({
            input_tokens: 1_000,
            output_tokens: 1,
            service_tier: 'standard',
            speed: 'fast',
            inference_geo: 'us',
          }),
          stop_reason: null,
        },
      },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: { output_tokens: 100, service_tier: 'standard' },
      },
      { type: 'message_stop' },
    ),
    cost: 2.2 * (4_000 + 2_000),
    tier: 'fast',
    geo: 'us',
  },
  {
    name: 'Gemini, flex',
    style: gemini,
    body: generated({
      promptTokenCount: 1_000,
      cachedContentTokenCount: 500,
      candidatesTokenCount: 50,
      thoughtsTokenCount: 50,
      serviceTier: 'flex',
    }),
    cost: (500 + 50 + 800) / 2,
    tier: 'flex',
  },
  {
    name: 'streamed Gemini of Vertex AI, priority',
    style: gemini,
    body: sse(generated({ promptTokenCount: 1_000, candidatesTokenCount: 100, trafficType: 'ON_DEMAND_PRIORITY' })),
    cost: 1.8 * 1_800,
    tier: 'ON_DEMAND_PRIORITY',
  },
]
