import type { Io } from 'guard-gateway/lib/command'

/** What a table does where it is wider than the terminal. */
export interface TableFit {
  /** Columns of the terminal; as many as the table needs if absent. */
  readonly width?: number | undefined
  /** Positions of the columns that are left out then, the first before the others. */
  readonly spare: readonly number[]
}

/** Columns of the terminal at the end of a stream; undefined where there is none. */
export const terminalWidth = (out: NodeJS.WritableStream): number | undefined => {
  const isTerminal = 'isTTY' in out && out.isTTY === true
  return isTerminal && 'columns' in out && typeof out.columns === 'number' && out.columns > 0 ? out.columns : undefined
}

/** Rows of a terminal's table as lines: columns as wide as what is in them, two blanks between, those in `figures` to the right. */
export const columnLines = (
  rows: readonly (readonly string[])[],
  figures: ReadonlySet<number> = new Set(),
  { width = Number.POSITIVE_INFINITY, spare }: TableFit = { spare: [] },
): readonly string[] => {
  const widths: number[] = []
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length)
  const padded = (cell: string, column: number): string =>
    figures.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)
  const without = (gone: readonly number[]): readonly string[] =>
    rows.map((row) =>
      row
        .map(padded)
        .filter((_cell, column) => !gone.includes(column))
        .join('  ')
        .trimEnd(),
    )
  let lines = without([])
  for (const last of spare.keys()) {
    if (lines.every(({ length }) => length <= width)) break
    lines = without(spare.slice(0, last + 1))
  }
  return lines
}

/** Whether the locale of a terminal can write more than ASCII; where none is set, it is taken for one of today's. */
export const writesUnicode = ({ env }: Pick<Io, 'env'>): boolean =>
  /^$|utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '')

/** Signs in front of what is well, of what is not, and of what to do about it. */
export const verdictSymbols = (
  io: Pick<Io, 'env'>,
): { readonly ok: string; readonly bad: string; readonly so: string } =>
  writesUnicode(io) ? { ok: '✓', bad: '✗', so: '→' } : { ok: '+', bad: 'x', so: '->' }
