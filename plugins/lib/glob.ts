/** Tells whether a text matches a pattern in which `*` stands for any characters, also none. Linear in the text for each piece of the pattern. */
export const glob = (pattern: string): ((text: string) => boolean) => {
  const pieces = pattern.split('*')
  const first = pieces[0] ?? ''
  if (pieces.length === 1) return (text) => text === pattern
  const last = pieces[pieces.length - 1] ?? ''
  const middle = pieces.slice(1, -1).filter((piece) => piece !== '')
  if (first === '' && last === '' && middle.length === 0) return () => true
  return (text) => {
    const end = text.length - last.length
    if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false
    let at = first.length
    for (const piece of middle) {
      const found = text.indexOf(piece, at)
      if (found === -1 || found + piece.length > end) return false
      at = found + piece.length
    }
    return true
  }
}

/** Tells whether a text matches one of these patterns at least. */
export const anyGlob = (patterns: readonly string[]): ((text: string) => boolean) => {
  const matchers = patterns.map(glob)
  return (text) => matchers.some((matches) => matches(text))
}
