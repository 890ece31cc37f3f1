import type { Usage } from 'guard-gateway/core'
import { totalled } from 'guard-gateway/core'
import { type Counts, isUsageEmpty } from 'guard-gateway/lib/api-style'

/** Where each count stands in a usage object. */
export const countPaths = {
  input: ['input_tokens'],
  read: ['cache_read_input_tokens'],
  written: ['cache_creation_input_tokens'],
  written5m: ['cache_creation', 'ephemeral_5m_input_tokens'],
  written1h: ['cache_creation', 'ephemeral_1h_input_tokens'],
  output: ['output_tokens'],
  reasoning: ['output_tokens_details', 'thinking_tokens'],
} as const

/** Counts as the reply said them. */
export type MessageCounts = Counts<keyof typeof countPaths>

/** Whole usage; null if the reply said none. */
export const usageOf = (counts: MessageCounts): Usage | null =>
  isUsageEmpty(counts)
    ? null
    : totalled({
        input_tokens: counts.input ?? 0,
        cache_read_tokens: counts.read ?? 0,
        cache_write_tokens: counts.written ?? (counts.written5m ?? 0) + (counts.written1h ?? 0),
        cache_write_5m_tokens: counts.written5m ?? 0,
        cache_write_1h_tokens: counts.written1h ?? 0,
        output_tokens: counts.output ?? 0,
        reasoning_tokens: counts.reasoning ?? 0,
      })
