import { escapeInvisible } from '#lib/html'
import { terminalLine } from '#lib/text'

/** Text on one line of a terminal for somebody who decides about it: what it hides is shown, as on pages. */
export const visibleLine = (text: string): string => terminalLine(escapeInvisible(text))
