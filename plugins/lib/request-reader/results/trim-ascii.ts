const isBlank = (unit: number): boolean => unit === 32 || (unit >= 9 && unit <= 13)

/** Trims ASCII white space. Other white space stays: in a byte string its bytes may be parts of letters. */
export const trimmed = (text: string): string => {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}
