const QUOTED = /^"((?:[^"]|"")*)"$/
const TAGS = /"(?:[^"]|"")*"(?=\s*(?:,|$))|[^,\s][^,]*/g

/** Tags as comma-separated text; tags that contain commas are quoted. */
export const tagsText = (tags: readonly string[]): string =>
  tags.map((tag) => (/^"|,/.test(tag) ? `"${tag.replaceAll('"', '""')}"` : tag)).join(', ')

/** Parses the tags of a field. */
export const tagsIn = (text: string): readonly string[] =>
  (text.match(TAGS) ?? [])
    .map((tag) => QUOTED.exec(tag)?.[1]?.replaceAll('""', '"') ?? tag)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
