import type { Io } from '../contracts/command.ts'

/** Rows of a terminal's table as lines: columns as wide as what stands in them, two blanks between, those in `figures` to the right. */
export const columnLines = (
  rows: readonly (readonly string[])[],
  figures: ReadonlySet<number> = new Set(),
): readonly string[] => {
  const widths: number[] = []
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length)
  const padded = (cell: string, column: number): string =>
    figures.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)
  return rows.map((row) => row.map(padded).join('  ').trimEnd())
}

/** Whether the locale of a terminal can write more than ASCII; where none is set, it is taken for one of today's. */
export const writesUnicode = ({ env }: Pick<Io, 'env'>): boolean =>
  /^$|utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '')

/** Signs in front of what is well, of what is not, and of what to do about it. */
export const verdictSigns = (
  io: Pick<Io, 'env'>,
): { readonly ok: string; readonly bad: string; readonly so: string } =>
  writesUnicode(io) ? { ok: '✓', bad: '✗', so: '→' } : { ok: '+', bad: 'x', so: '->' }
