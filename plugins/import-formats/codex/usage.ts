import { totalled, type Usage } from 'guard-gateway/core'
import type { JsonObject } from 'guard-gateway/lib/json'
import { objectOf, tokensOf } from 'guard-gateway/lib/otlp'
import { type ImportLocation, memberLocation } from 'guard-gateway/lib/trace-file'

/** Usage as Codex has it, whose input counts hold what was cached. Throws ImportFault. */
export const usageIn = (record: JsonObject, key: string, place: ImportLocation): Usage | undefined => {
  const usage = objectOf(record, key, place)
  if (usage === undefined) return undefined
  const at = memberLocation(place, key)
  const cache_read_tokens = tokensOf(usage, 'cached_input_tokens', at)
  const cache_write_tokens = tokensOf(usage, 'cache_write_input_tokens', at)
  return totalled({
    input_tokens: Math.max(0, tokensOf(usage, 'input_tokens', at) - cache_read_tokens - cache_write_tokens),
    cache_read_tokens,
    cache_write_tokens,
    output_tokens: tokensOf(usage, 'output_tokens', at),
    reasoning_tokens: tokensOf(usage, 'reasoning_output_tokens', at),
  })
}
