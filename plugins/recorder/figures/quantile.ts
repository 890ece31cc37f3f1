import { DURATIONS } from './measures.ts'

/** The duration in milliseconds that this share of calls did not exceed, interpolated between the ends of its stretch; null without calls. Beyond the last end it is that end. */
export const quantile = (share: number, counts: readonly number[]): number | null => {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total <= 0) return null
  const wanted = share * total
  let before = 0
  for (const [at, end] of DURATIONS.entries()) {
    const count = counts[at] ?? 0
    const start = at === 0 ? 0 : (DURATIONS[at - 1] ?? 0)
    if (count > 0 && before + count >= wanted) return Math.round(start + ((wanted - before) / count) * (end - start))
    before += count
  }
  return DURATIONS.at(-1) ?? null
}
