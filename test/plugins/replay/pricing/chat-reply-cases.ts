import type { ApiStyle } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'

/** A reply, as its provider sends it, and what it costs in millionths of a dollar. */
export interface ReplyCase {
  readonly name: string
  readonly style: ApiStyle
  readonly body: object | string
  readonly cost: number
  readonly tier: string | null
  readonly geo?: string
}

/** Events of a stream. */
export const sse = (...events: readonly object[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')

const chat = (usage: object, service_tier?: string) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-x-2026-11-17',
  ...(service_tier === undefined ? {} : { service_tier }),
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage,
})
const chunk = (more: object) => ({ id: 'chatcmpl-1', object: 'chat.completion.chunk', model: 'gpt-x', ...more })

export const chatCases: readonly ReplyCase[] = [
  {
    name: 'Chat Completions with cached reads and writes',
    style: chatCompletions,
    body: chat(
      {
        prompt_tokens: 2_600,
        completion_tokens: 10,
        prompt_tokens_details: { cached_tokens: 2_000, cache_write_tokens: 400 },
      },
      'default',
    ),
    cost: 400 + 400 + 1_000 + 100,
    tier: 'default',
  },
  {
    name: 'Chat Completions, flex',
    style: chatCompletions,
    body: chat({ prompt_tokens: 1_000, completion_tokens: 100 }, 'flex'),
    cost: 1_500,
    tier: 'flex',
  },
  {
    name: 'Chat Completions that name no tier',
    style: chatCompletions,
    body: chat({ prompt_tokens: 1_000, completion_tokens: 100 }),
    cost: 3_000,
    tier: null,
  },
  {
    name: 'Chat Completions whose reasoning stands beside the completion',
    style: chatCompletions,
    body: {
      ...chat({
        prompt_tokens: 10_120,
        completion_tokens: 1_499,
        total_tokens: 14_428,
        prompt_tokens_details: { cached_tokens: 128 },
        completion_tokens_details: { reasoning_tokens: 2_809 },
      }),
      model: 'grok-x',
    },
    // what the provider billed for it
    cost: 23_285.6,
    tier: null,
  },
  {
    name: 'Chat Completions whose reasoning is part of the completion',
    style: chatCompletions,
    body: {
      ...chat({
        prompt_tokens: 100,
        completion_tokens: 400,
        total_tokens: 500,
        completion_tokens_details: { reasoning_tokens: 300 },
      }),
      model: 'grok-x',
    },
    cost: 125 + 1_000,
    tier: null,
  },
  ...[{ cached_tokens: 600 }, { prompt_cache_hit_tokens: 600, prompt_cache_miss_tokens: 400 }].map((cached) => ({
    name: `Chat Completions with ${Object.keys(cached)[0]}`,
    style: chatCompletions,
    body: { ...chat({ prompt_tokens: 1_000, completion_tokens: 100, ...cached }), model: 'kimi-x' },
    cost: 1_200 + 180 + 1_500,
    tier: null,
  })),
  {
    name: 'streamed Chat Completions, priority, cache writes in the last chunk',
    style: chatCompletions,
    body: `${sse(
      chunk({ service_tier: 'priority', choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' } }] }),
      chunk({ service_tier: 'priority', choices: [{ index: 0, delta: { content: '!' } }] }),
      chunk({ service_tier: 'priority', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
      chunk({
        service_tier: 'priority',
        choices: [],
        usage: {
          prompt_tokens: 1_400,
          completion_tokens: 100,
          prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 400 },
        },
      }),
    )}data: [DONE]\n\n`,
    cost: 2 * (2_000 + 1_000 + 1_000),
    tier: 'priority',
  },
]
