/** Longer names are cut before they are read: no client has any. */
const NAME_CHARS = 256

/** What is between the parts of a qualified name: `mcp__files__read`, `browser.click`, `server/tool`, `ns:tool`. */
const qualifier = /__|[./:]/

const word = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{M}]+|\p{N}+/gu

/** The last part of a qualified name: `edit_file` of `mcp__filesystem__edit_file`. */
export const lastPart = (name: string): string => {
  const parts = name.slice(0, NAME_CHARS).split(qualifier)
  return parts.findLast((part) => part !== '') ?? ''
}

/** The words of a name, in lower case: `multi` and `edit` of `MultiEdit`, `multi_edit` and `multi-edit`. */
export const wordsOf = (name: string): readonly string[] =>
  (name.slice(0, NAME_CHARS).match(word) ?? []).map((one) => one.toLowerCase())
