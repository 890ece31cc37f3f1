import type { TraceSpan, TreeSpan } from '#lib/trace'
import { countedSpans } from './counted-spans.ts'

const CACHED = 'gen_ai.usage.cache_read.input_tokens'

/** Input tokens of a span that came from a cache; null for a span without input. */
export const cachedTokensOf = ({
  input_tokens,
  attributes,
}: Pick<TraceSpan, 'input_tokens' | 'attributes'>): bigint | null => {
  if (input_tokens === null) return null
  const cachedTokens = attributes[CACHED]
  const cached =
    typeof cachedTokens === 'bigint' || (typeof cachedTokens === 'number' && Number.isSafeInteger(cachedTokens))
      ? BigInt(cachedTokens)
      : 0n
  // senders may say anything
  return cached < 0n ? 0n : cached > input_tokens ? input_tokens : cached
}

/** Input tokens of a run that came from a cache, each request once. */
export const cachedInputOf = (spans: readonly TreeSpan[]): bigint =>
  countedSpans(spans).reduce((sum, span) => sum + (cachedTokensOf(span) ?? 0n), 0n)
