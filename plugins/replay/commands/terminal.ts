import { styleText } from 'node:util'
import type { Input, Io } from 'guard-gateway/lib/command'
import { showsColours, terminalWidth, writesUnicode } from 'guard-gateway/lib/terminal'

/** Green: allow and ok; yellow: flag; red: block and error; dim: other. */
export type Colour = 'green' | 'yellow' | 'red' | 'dim'

/** Symbols for Unicode terminals, and for others. */
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

export const symbolsOf = (io: Io): TerminalSymbols => (writesUnicode(io) ? symbols.unicode : symbols.ascii)

export const isTerminal = (stream: NodeJS.WritableStream): boolean => 'isTTY' in stream && stream.isTTY === true

/** Width of the output terminal; `otherwise` without a terminal. */
export const columnsOf = ({ out }: Io, otherwise: number): number => terminalWidth(out) ?? otherwise

/** Colours text on a terminal; returns it unchanged elsewhere. */
export const painter = (input: Input, io: Io): ((text: string, colour: Colour) => string) => {
  if (!showsColours(io.out, input, io)) return (text) => text
  return (text, colour) => styleText(colour, text, { validateStream: false })
}

/** Colour of a status or decision; undefined for neutral ones. */
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
