const QUOTED = /^"((?:[^"]|"")*)"$/
const TAGS = /"(?:[^"]|"")*"(?=\s*(?:,|$))|[^,\s][^,]*/g

/** Tags as they stand in a field, with commas between, and quotes about one that holds some. */
export const tagsText = (tags: readonly string[]): string =>
  tags.map((tag) => (/^"|,/.test(tag) ? `"${tag.replaceAll('"', '""')}"` : tag)).join(', ')

/** The tags in a field. */
export const tagsIn = (text: string): readonly string[] =>
  (text.match(TAGS) ?? [])
    .map((tag) => QUOTED.exec(tag)?.[1]?.replaceAll('""', '"') ?? tag)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
