import { styleText } from 'node:util'
import type { Input, Io } from 'guard-gateway/lib/command'
import { showsColours, terminalWidth, writesUnicode } from 'guard-gateway/lib/terminal'

/** Colours that mean something: green allow and ok, yellow flag, red block and error, dim for the rest. */
export type Colour = 'green' | 'yellow' | 'red' | 'dim'

/** Symbols for a terminal that writes Unicode, and for one that does not. */
const symbols = {
  unicode: {
    line: '─',
    begin: '├',
    end: '┤',
    instant: '│',
    open: '…',
    cut: '…',
    event: '•',
    left: '▕',
    full: '█',
    empty: '░',
    right: '▏',
  },
  ascii: {
    line: '-',
    begin: '|',
    end: '|',
    instant: '|',
    open: '>',
    cut: '~',
    event: '*',
    left: '[',
    full: '#',
    empty: '.',
    right: ']',
  },
} as const

export type TerminalSymbols = (typeof symbols)['unicode' | 'ascii']

/** The symbols that the locale can write. */
export const symbolsOf = (io: Io): TerminalSymbols => (writesUnicode(io) ? symbols.unicode : symbols.ascii)

/** Whether somebody looks at this stream, not a program. */
export const isTerminal = (stream: NodeJS.WritableStream): boolean => 'isTTY' in stream && stream.isTTY === true

/** Columns of the terminal that results are written to; `otherwise` where there is none. */
export const columnsOf = ({ out }: Io, otherwise: number): number => terminalWidth(out) ?? otherwise

/** Paints results where somebody sees them in colour; the text itself anywhere else. */
export const painter = (input: Input, io: Io): ((text: string, colour: Colour) => string) => {
  if (!showsColours(io.out, input, io)) return (text) => text
  return (text, colour) => styleText(colour, text, { validateStream: false })
}

/** The colour of a status or a decision; undefined for one that means nothing in particular. */
export const colourOf = (word: string): Colour | undefined => colours.get(word)

const colours = new Map<string, Colour>([
  ['ok', 'green'],
  ['allow', 'green'],
  ['running', 'dim'],
  ['cancelled', 'dim'],
  ['shadow_flag', 'yellow'],
  ['shadow_deny', 'yellow'],
  ['confirm', 'yellow'],
  ['transform', 'yellow'],
  ['error', 'red'],
  ['timeout', 'red'],
  ['blocked', 'red'],
  ['block', 'red'],
  ['deny', 'red'],
  ['rate_limit', 'red'],
])
