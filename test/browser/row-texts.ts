/** Rows as markup without where links lead, attributes by name. */
export const rowTexts = (rows: readonly Element[]): readonly string[] =>
  rows.map((row) => {
    for (const part of [row, ...row.querySelectorAll('*')]) {
      part.removeAttribute('href')
      const all = [...part.attributes].sort((one, other) => (one.name < other.name ? -1 : 1))
      for (const { name } of all) part.removeAttribute(name)
      for (const { name, value } of all) part.setAttribute(name, value)
    }
    return row.outerHTML
  })
