/**
 * True if a word matches an entry. An asterisk matches any characters. A trailing `:*` also matches the empty text,
 * as users expect from a prefix.
 */
export const fits = (word: string, wanted: string): boolean => {
  const [head = '', ...rest] = wanted.split('*')
  const tail = rest.pop()
  if (tail === undefined) return word === wanted
  if (wanted.endsWith(':*') && word === wanted.slice(0, -2)) return true
  const end = word.length - tail.length
  if (!word.startsWith(head) || !word.endsWith(tail)) return false
  let at = head.length
  for (const part of rest) {
    const found = word.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return at <= end
}
