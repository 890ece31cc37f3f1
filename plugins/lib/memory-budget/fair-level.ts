/** The bytes to which the largest parts must shrink so that all parts together hold `total`; the others hold less and stay. */
export const fairLevel = (parts: readonly { readonly bytes: number }[], total: number): number => {
  let left = total
  let count = parts.length
  for (const { bytes } of parts.toSorted((a, b) => a.bytes - b.bytes)) {
    if (bytes > left / count) break
    left -= bytes
    count--
  }
  // 0 would mean that nothing is in use
  return count === 0 ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(left / count))
}
