import type { Usage } from 'guard-gateway/core'
import { isShape } from 'guard-gateway/lib/json'

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

/** Where a dialect's usage object keeps each count. */
export type CountPaths<K extends string> = Readonly<Record<K, readonly string[]>>

/** Counts as a dialect said them; null is "not said". */
export type Counts<K extends string> = { [name in K]: number | null }

/** No reply has more tokens: a larger number is no count, and could not be added up over a session. */
const MOST_TOKENS = 1e12

/** Takes over every count that this usage object says, so that the last one said stands. */
export const noteCounts = <K extends string>(counts: Counts<K>, paths: CountPaths<K>, usage: unknown): void => {
  if (!isShape(usage)) return
  for (const name in paths) {
    let value: unknown = usage
    for (const step of paths[name]) value = isShape(value) ? value[step] : undefined
    if (typeof value === 'number' && value <= MOST_TOKENS) counts[name] = Math.max(0, Math.trunc(value))
  }
}

/** Counts of which none has been said. */
export const noCounts = <K extends string>(paths: CountPaths<K>): Counts<K> => {
  const counts: Partial<Counts<K>> = {}
  for (const name in paths) counts[name] = null
  return counts as Counts<K>
}

export const saysNothing = (counts: Counts<string>): boolean => {
  for (const name in counts) if (counts[name] !== null) return false
  return true
}
