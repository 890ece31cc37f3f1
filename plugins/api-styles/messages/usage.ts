import { type Counts, type Draft, noteCounts } from 'guard-gateway/lib/api-style'
import { isJsonObject, nonEmptyText } from 'guard-gateway/lib/json'

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

/** Counts, and under which terms they are billed. Fast mode has a price of its own, as a service tier has. */
export const noteUsage = (draft: Draft, counts: Counts<keyof typeof countPaths>, usage: unknown): void => {
  if (!isJsonObject(usage)) return
  noteCounts(counts, countPaths, usage)
  const { service_tier, speed, inference_geo } = usage
  if (draft.service_tier !== 'fast')
    draft.service_tier = (speed === 'fast' ? speed : nonEmptyText(service_tier)) ?? draft.service_tier
  draft.inference_geo = nonEmptyText(inference_geo) ?? draft.inference_geo
}
