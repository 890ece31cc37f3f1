/** Whether equal results alone would match; null if empty or unknown ones leave that open. */
export const verdict = (
  threshold: number,
  result: string | null,
  results: readonly (string | null)[],
): boolean | null => {
  if (result === null) return null
  const equal = results.filter((other) => other === result).length
  if (equal >= threshold) return true
  return equal + results.filter((other) => other === null).length >= threshold ? null : false
}
