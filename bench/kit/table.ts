/** Formats rows as aligned columns: the first column on the left, numbers on the right. */
export const printTable = (columns: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = columns.map((name, column) => Math.max(name.length, ...rows.map((row) => (row[column] ?? '').length)))
  const line = (cells: readonly string[]): string =>
    widths
      .map((width, column) => pad(cells[column] ?? '', width, column === 0))
      .join('  ')
      .trimEnd()
  return [line(columns), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n')
}

const pad = (text: string, width: number, left: boolean): string => (left ? text.padEnd(width) : text.padStart(width))

/** Formats milliseconds in the most readable unit. */
export const duration = (ms: number): string => {
  if (ms >= 1) return `${ms.toFixed(2)} ms`
  return ms >= 0.001 ? `${(ms * 1000).toFixed(2)} µs` : `${(ms * 1_000_000).toFixed(0)} ns`
}

/** The median. NaN for an empty list. */
export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2
}
