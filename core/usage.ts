/** Token counts of one reply; `input_tokens` is what was not cached. */
export interface Usage {
  readonly input_tokens: number
  readonly cache_read_tokens: number
  readonly cache_write_tokens: number
  readonly cache_write_5m_tokens: number
  readonly cache_write_1h_tokens: number
  readonly output_tokens: number
  /** Part of `output_tokens`. */
  readonly reasoning_tokens: number
  readonly total_tokens: number
}

/** Nothing was used. */
export const noUsage: Usage = Object.freeze({
  input_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  cache_write_5m_tokens: 0,
  cache_write_1h_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  total_tokens: 0,
})

/** Whole usage from the counts that are known: none below zero, the total summed up. */
export const totalled = (counts: Partial<Omit<Usage, 'total_tokens'>>): Usage => {
  const input_tokens = countOf(counts.input_tokens)
  const cache_read_tokens = countOf(counts.cache_read_tokens)
  const cache_write_tokens = countOf(counts.cache_write_tokens)
  const output_tokens = countOf(counts.output_tokens)
  return {
    input_tokens,
    cache_read_tokens,
    cache_write_tokens,
    cache_write_5m_tokens: countOf(counts.cache_write_5m_tokens),
    cache_write_1h_tokens: countOf(counts.cache_write_1h_tokens),
    output_tokens,
    reasoning_tokens: countOf(counts.reasoning_tokens),
    total_tokens: input_tokens + cache_read_tokens + cache_write_tokens + output_tokens,
  }
}

const countOf = (count = 0): number => Math.max(0, count)
