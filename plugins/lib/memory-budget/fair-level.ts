/** The bytes to which the largest parts must shrink so that all parts together hold `total`; the others hold less and stay. */
export const fairLevel = (parts: readonly { readonly bytes: number }[], total: number): number => {
  let left = total
  let count = parts.length
  for (const { bytes } of parts.toSorted((a, b) => a.bytes - b.bytes)) {
    if (bytes > left / count) break
    left -= bytes
    count--
  }
  return count === 0 ? Number.POSITIVE_INFINITY : Math.floor(left / count)
}
