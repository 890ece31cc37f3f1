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
