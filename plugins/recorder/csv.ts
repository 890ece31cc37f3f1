/** A cell: text is quoted and escaped, a number is literal, null is empty. */
export type Cell = string | number | null

const GUARDED = new Set(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'])

/** One RFC 4180 line with its line end. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(written).join(',')}\r\n`

const written = (cell: Cell): string => {
  if (cell === null) return ''
  return typeof cell === 'number' ? String(cell) : `"${guarded(cell).replaceAll('"', '""')}"`
}

/** Escapes text that a spreadsheet would evaluate as a formula, also after leading blanks. */
const guarded = (text: string): string =>
  GUARDED.has(text.charAt(0)) || GUARDED.has(text.trimStart().charAt(0)) ? `'${text}` : text
