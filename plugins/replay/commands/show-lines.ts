import { type Colour, colourOf } from 'guard-gateway/lib/terminal'
import type { Row } from './show-rows.ts'
import type { TerminalSymbols } from './terminal.ts'

const MAX_INDENT = 8
const MIN_BAR = 10
const TOOK = 8
const STATUS = 7
const MAX_NOTE = 32
/** Blanks between the five columns. */
const GAPS = 5

export interface Drawing {
  /** Columns of a line. */
  readonly width: number
  readonly symbols: TerminalSymbols
  paint(text: string, colour: Colour): string
}

/** Lines of rows: name, bar on the time axis, duration, tokens, cost, status, note. */
export function* linesOf(rows: readonly Row[], { width, symbols, paint }: Drawing): Generator<string> {
  const names = rows.map(({ depth, title }) => '  '.repeat(Math.min(depth, MAX_INDENT)) + title)
  const longest = (texts: readonly string[]): number => texts.reduce((most, { length }) => Math.max(most, length), 0)
  const free = Math.min(longest(rows.map((row) => row.note)), MAX_NOTE, Math.floor(width / 4))
  const note = Math.max(longest(rows.map((row) => row.decided)), free)
  const figures = figuresOf(rows, width)
  const left = width - TOOK - STATUS - note - GAPS - figures.reduce((sum, { columns }) => sum + columns + 1, 0)
  const name = Math.max(Math.min(longest(names), Math.floor(left / 2)), MIN_BAR)
  const bar = Math.max(left - name, MIN_BAR)
  const span_ns = rows.reduce((last, { from, until }) => Math.max(last, until ?? from), 0)
  const columnOf = (ns: number): number =>
    span_ns <= 0 ? 0 : Math.min(Math.max(Math.round((ns / span_ns) * (bar - 1)), 0), bar - 1)
  for (const [at, row] of rows.entries()) {
    const title = shortened(names[at] ?? '', name, symbols.cut).padEnd(name)
    const drawn = barOf(row, columnOf, bar, symbols).padEnd(bar)
    const status = painted(cut(row.status, STATUS).padEnd(STATUS), row.status, paint)
    const decided = painted(noteOf(row, note), `${row.decided} ${row.note}`.trimStart().split(' ', 1)[0] ?? '', paint)
    const sums = figures.map(({ of, columns }) => row[of].padStart(columns))
    yield [title, drawn, row.took.padStart(TOOK), ...sums, status, decided].join(' ').trimEnd()
  }
}

/** Lines that are narrower have no room for figures. */
const MIN_FIGURES = 80

interface Figure {
  readonly of: 'tokens' | 'cost'
  readonly columns: number
}

/** Tokens and cost, where there are some. */
const figuresOf = (rows: readonly Row[], width: number): readonly Figure[] =>
  width < MIN_FIGURES
    ? []
    : (['tokens', 'cost'] as const)
        .map((of) => ({ of, columns: rows.reduce((most, row) => Math.max(most, row[of].length), 0) }))
        .filter(({ columns }) => columns > 0)

const cut = (text: string, length: number): string => (text.length <= length ? text : text.slice(0, length))

/** Decision codes are never shortened; other text is. */
const noteOf = ({ decided, note }: Row, length: number): string =>
  decided === '' ? cut(note, length) : `${decided} ${cut(note, Math.max(length - decided.length - 1, 0))}`.trimEnd()

/** Shortens a name and retains its number, which distinguishes equal names. */
const shortened = (title: string, length: number, sign: string): string => {
  if (title.length <= length) return title
  const number = /#\d+$/.exec(title)?.[0] ?? ''
  return cut(title, length - number.length - sign.length) + sign + number
}

const painted = (text: string, word: string, paint: Drawing['paint']): string => {
  const colour = colourOf(word)
  return colour === undefined ? text : paint(text, colour)
}

const barOf = (
  { from, until }: Row,
  columnOf: (ns: number) => number,
  width: number,
  symbols: TerminalSymbols,
): string => {
  const begin = columnOf(from)
  if (until === undefined) return ' '.repeat(begin) + symbols.event
  const end = until === null ? width - 1 : Math.max(columnOf(until), begin)
  if (end === begin) return ' '.repeat(begin) + symbols.instant
  const close = until === null ? symbols.open : symbols.end
  return ' '.repeat(begin) + symbols.begin + symbols.line.repeat(end - begin - 1) + close
}
