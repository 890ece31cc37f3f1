import truncatedWidth from 'fast-string-truncated-width'

/** Columns that a text takes on a terminal: two for wide letters and emoji, none for colours and combining marks. */
export const displayWidth = (text: string): number => (ASCII.test(text) ? text.length : truncatedWidth(text).width)

const ASCII = /^[ -~]*$/

/** A text cut to so many columns: `…` stands for what is missing, two thirds into it, as names differ at their ends too. */
export const cutToWidth = (text: string, width: number): string => {
  if (displayWidth(text) <= width) return text
  const tail = tailOf(text, Math.floor((width - 1) / 3))
  const limit = Math.max(width - 1 - displayWidth(tail), 0)
  return `${text.slice(0, truncatedWidth(text, { limit }).index)}…${tail}`
}

/** The end of a text that takes at most so many columns. */
const tailOf = (text: string, width: number): string => {
  let tail = ''
  for (const { segment } of [...graphemes.segment(text.slice(-4 * width))].toReversed()) {
    if (displayWidth(segment + tail) > width) break
    tail = segment + tail
  }
  return width <= 0 ? '' : tail
}

const graphemes = new Intl.Segmenter()

/** A text filled up with blanks to so many columns. */
export const padToWidth = (text: string, width: number, side: 'left' | 'right' = 'right'): string => {
  const blanks = ' '.repeat(Math.max(width - displayWidth(text), 0))
  return side === 'right' ? text + blanks : blanks + text
}
