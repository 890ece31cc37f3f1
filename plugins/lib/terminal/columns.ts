import truncatedWidth from 'fast-string-truncated-width'
import type { Io } from '#lib/command'

/** What a table does where it is wider than the terminal. */
export interface TableFit {
  /** Columns of the terminal; as many as the table needs if absent. */
  readonly width?: number | undefined
  /** Positions of the columns that are left out then, the first before the others. */
  readonly spare: readonly number[]
  /** Positions of the columns of free text, which are cut before a column is left out, and how narrow each may become for that. */
  readonly free?: ReadonlyMap<number, number>
  /** Colours a cell below the head, blanks around it included. */
  readonly paint?: (cell: string, column: number) => string
}

const GAP = 2
/** So narrow any column may become where nothing else helps. */
const LEAST = 8

/** Columns of the terminal at the end of a stream; undefined where there is none. */
export const terminalWidth = (out: NodeJS.WritableStream): number | undefined => {
  const isTerminal = 'isTTY' in out && out.isTTY === true
  return isTerminal && 'columns' in out && typeof out.columns === 'number' && out.columns > 0 ? out.columns : undefined
}

/** Rows of a terminal's table as lines: columns as wide as what is in them, two blanks between, those in `figures` to the right. The first row is the head. */
export const columnLines = (
  rows: readonly (readonly string[])[],
  figures: ReadonlySet<number> = new Set(),
  fit: TableFit = { spare: [] },
): readonly string[] => {
  const layout = layoutOf(rows, fit)
  return rows.map((row, at) =>
    layout
      .map(({ column, width }) => {
        const cell = padToWidth(cutToWidth(row[column] ?? '', width), width, figures.has(column) ? 'left' : 'right')
        return at === 0 || fit.paint === undefined ? cell : fit.paint(cell, column)
      })
      .join(' '.repeat(GAP))
      .trimEnd(),
  )
}

interface Laid {
  readonly column: number
  readonly width: number
}

/** The columns that are shown, and how wide each is. */
const layoutOf = (
  rows: readonly (readonly string[])[],
  { width = Number.POSITIVE_INFINITY, spare, free = new Map() }: TableFit,
): readonly Laid[] => {
  const widths: number[] = []
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, displayWidth(cell))
  const all = widths.map((wide, column) => ({ column, width: wide }))
  if (total(all) <= width) return all
  const isUsed = ({ column }: Laid): boolean => rows.slice(1).some((row) => (row[column] ?? '') !== '')
  const used = all.filter(isUsed)
  for (let left = 0; ; left++) {
    const visible = used.filter(({ column }) => !spare.slice(0, left).includes(column))
    const isLast = left >= spare.length
    const fitted = narrowed(visible, width, free)
    if (total(fitted) <= width) return fitted
    if (isLast) return narrowed(fitted, width, new Map(fitted.map(({ column }) => [column, LEAST])))
  }
}

const total = (laid: readonly Laid[]): number =>
  laid.reduce((sum, { width }) => sum + width, 0) + GAP * Math.max(laid.length - 1, 0)

/** Takes what is too much from the widest columns of free text, none of which becomes narrower than it may. */
const narrowed = (laid: readonly Laid[], width: number, free: ReadonlyMap<number, number>): readonly Laid[] => {
  const widths = new Map(laid.map((one) => [one.column, one.width]))
  const room = (column: number): number => (widths.get(column) ?? 0) - (free.get(column) ?? 0)
  for (let excess = total(laid) - width; excess > 0; excess--) {
    const [widest] = [...free.keys()]
      .filter((column) => widths.has(column) && room(column) > 0)
      .sort((a, b) => (widths.get(b) ?? 0) - (widths.get(a) ?? 0))
    if (widest === undefined) break
    widths.set(widest, (widths.get(widest) ?? 0) - 1)
  }
  return laid.map(({ column, width: whole }) => ({ column, width: widths.get(column) ?? whole }))
}

/** Whether the locale of a terminal can write more than ASCII; where none is set, it is taken for one of today's. */
export const writesUnicode = ({ env }: Pick<Io, 'env'>): boolean =>
  /^$|utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '')

/** Signs in front of what is well, of what is not, and of what to do about it. */
export const verdictSymbols = (
  io: Pick<Io, 'env'>,
): { readonly ok: string; readonly bad: string; readonly so: string } =>
  writesUnicode(io) ? { ok: '✓', bad: '✗', so: '→' } : { ok: '+', bad: 'x', so: '->' }

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
