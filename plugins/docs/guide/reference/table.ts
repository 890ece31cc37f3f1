/** Text as it is, where Markdown would read marks in it. */
export const plainly = (text: string): string =>
  text.replaceAll(/[\\`*_{}[\]<>#|~!&]/g, '\\$&').replaceAll(/\s*\n\s*/g, ' ')

/** Text as code. */
export const code = (text: string): string => {
  const flat = text.replaceAll(/\s+/g, ' ')
  return flat.includes('`') ? plainly(flat) : `\`${flat.replaceAll('|', '\\|')}\``
}

/** A Markdown table; cells are Markdown already. Nothing where there are no rows. */
export const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  rows.length === 0
    ? ''
    : `${[heads, heads.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`
