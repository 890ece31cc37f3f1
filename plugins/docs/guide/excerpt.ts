import { type Html, html } from 'guard-gateway/lib/html'

const CHARS_BEFORE = 60
const CHARS = 240

/** The text around the first of these words, with each of them marked. */
export const excerpt = (text: string, words: readonly string[]): Html => {
  const flat = text.replaceAll(/\s+/g, ' ').trim()
  const pattern = patternOf(words)
  const at = pattern === undefined ? 0 : Math.max(flat.search(pattern), 0)
  const from = at <= CHARS_BEFORE ? 0 : flat.indexOf(' ', at - CHARS_BEFORE) + 1
  const piece = flat.slice(from, from + CHARS).toWellFormed()
  const parts = pattern === undefined ? [piece] : piece.split(pattern)
  return html`${from > 0 && '… '}${parts.map((part, index) => (index % 2 === 1 ? html`<mark>${part}</mark>` : part))}${from + CHARS < flat.length && ' …'}`
}

/** Finds any of these words with one group, so that `split` gives every second. */
const patternOf = (words: readonly string[]): RegExp | undefined =>
  words.length === 0
    ? undefined
    : new RegExp(`\\b(${words.map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|')})`, 'iu')
