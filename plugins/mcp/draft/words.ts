import { cutText } from 'guard-gateway/lib/text'
import { visibleLine } from '../management/visible-line.ts'

/** Words from outside on one line of a comment: nothing hidden, nothing that ends the line, about as long as said at most. */
export const quoted = (text: string, max: number): string => {
  // the head is enough to look at: a description may be long
  const line = visibleLine(cutText(text.trimStart(), 4 * max))
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line.length > max ? `${cutText(line, max)}…` : line
}
