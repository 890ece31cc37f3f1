import { closest, distance } from 'fastest-levenshtein'

/** Shorter words are all near one another. */
const MIN_LENGTH = 3

/** The candidate that `word` was most likely meant to be; undefined if none is near. */
export const nearest = (word: string, candidates: readonly string[]): string | undefined => {
  if (candidates.length === 0 || word.length < MIN_LENGTH) return undefined
  const best = closest(word, candidates)
  return distance(word, best) <= Math.floor(Math.min(word.length, best.length) / 2) ? best : undefined
}

/** ` Did you mean "x"?`, or nothing if there is no near candidate. */
export const suggestion = (word: string, candidates: readonly string[]): string => {
  const best = nearest(word, candidates)
  return best === undefined ? '' : ` Did you mean "${best}"?`
}
