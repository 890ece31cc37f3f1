import type { Io } from '#lib/command'
import { terminalWidth, writesUnicode } from '#lib/terminal'

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
