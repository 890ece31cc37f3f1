/**
 * Whether a word is what an entry says. An asterisk stands for any characters of a word; `:*` at its end for nothing, too,
 * as those expect who write a prefix so.
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
