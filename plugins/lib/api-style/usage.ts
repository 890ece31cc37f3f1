import { totalled, type Usage } from 'guard-gateway/core'
import { isJsonObject } from '#lib/json'

/** Where a dialect's usage object keeps each count. */
export type CountPaths<K extends string> = Readonly<Record<K, readonly string[]>>

/** Counts as a dialect said them; null is "not said". */
export type Counts<K extends string> = { [name in K]: number | null }

/** No reply has more tokens: a larger number is no count, and could not be added up over a session. */
const MOST_TOKENS = 1e12

/** Takes over every count that this usage object says at these paths, so that the last one said is. */
export const noteCounts = <K extends string>(
  counts: Counts<K>,
  paths: Partial<CountPaths<K>>,
  usage: unknown,
): void => {
  if (!isJsonObject(usage)) return
  for (const name in paths) {
    let value: unknown = usage
    for (const step of paths[name] ?? []) value = isJsonObject(value) ? value[step] : undefined
    if (typeof value === 'number' && value <= MOST_TOKENS) counts[name] = Math.max(0, Math.trunc(value))
  }
}

/** Counts of which none has been said. */
export const noCounts = <K extends string>(paths: CountPaths<K>): Counts<K> => {
  const counts: Partial<Counts<K>> = {}
  for (const name in paths) counts[name] = null
  return counts as Counts<K>
}

export const isUsageEmpty = (counts: Partial<Counts<string>>): boolean => {
  for (const name in counts) if (counts[name] !== null) return false
  return true
}

/** Counts that providers tell of a reply. `tools`: input that tools of the provider have brought, where `input` leaves it out. */
type ReportedCounts = Counts<
  'input' | 'tools' | 'read' | 'written' | 'written5m' | 'written1h' | 'output' | 'reasoning'
>

interface UsageOptions {
  readonly includes_cache?: boolean
  readonly reasoning_apart?: boolean
}

/** Whole usage; null if the reply said none. `includes_cache`: `input` counts also what was read from a cache and written into it; `reasoning_apart`: `output` leaves out what was reasoned. */
export const usageOf = (
  counts: Partial<ReportedCounts>,
  { includes_cache = false, reasoning_apart = false }: UsageOptions = {},
): Usage | null => {
  if (isUsageEmpty(counts)) return null
  const read = counts.read ?? 0
  const written5m = counts.written5m ?? 0
  const written1h = counts.written1h ?? 0
  const written = counts.written ?? written5m + written1h
  return totalled({
    input_tokens: (counts.input ?? 0) + (counts.tools ?? 0) - (includes_cache ? read + written : 0),
    cache_read_tokens: read,
    cache_write_tokens: written,
    cache_write_5m_tokens: written5m,
    cache_write_1h_tokens: written1h,
    output_tokens: (counts.output ?? 0) + (reasoning_apart ? (counts.reasoning ?? 0) : 0),
    reasoning_tokens: counts.reasoning ?? 0,
  })
}
