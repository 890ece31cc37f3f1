import { nearest } from '#lib/errors'

/** ` Did you mean "x"?`, or nothing if there is no near candidate. */
export const suggestion = (word: string, candidates: readonly string[]): string => {
  const best = nearest(word, candidates)
  return best === undefined ? '' : ` Did you mean "${best}"?`
}
