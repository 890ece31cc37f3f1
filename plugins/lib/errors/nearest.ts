import { closest, distance } from 'fastest-levenshtein'

/**
 * The candidate that `word` was most likely meant to be: at most half of the shorter one differs, and one letter may in any case.
 * Undefined if none is near, and for words under `min_length`, which are all near one another.
 */
export const nearest = (word: string, candidates: readonly string[], min_length = 3): string | undefined => {
  if (candidates.length === 0 || word.length < min_length) return undefined
  const best = closest(word, candidates)
  const limit = Math.max(1, Math.floor(Math.min(word.length, best.length) / 2))
  return distance(word, best) <= limit ? best : undefined
}
