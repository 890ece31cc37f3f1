/** A cell: text is quoted and guarded, numbers stand plain, null is empty. */
export type Cell = string | number | null

const GUARDED = new Set(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'])

/** One line of RFC 4180 text with its line end. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(written).join(',')}\r\n`

const written = (cell: Cell): string => {
  if (cell === null) return ''
  return typeof cell === 'number' ? String(cell) : `"${guarded(cell).replaceAll('"', '""')}"`
}

/** Text that a spreadsheet would take for a formula gets an apostrophe before it; blanks before the sign do not hide it. */
const guarded = (text: string): string =>
  GUARDED.has(text.charAt(0)) || GUARDED.has(text.trimStart().charAt(0)) ? `'${text}` : text
