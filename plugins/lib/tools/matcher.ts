import { anyGlob } from '#lib/glob'
import { lastPart, wordsOf } from './words.ts'

/** Verdicts that one matcher remembers; clients have tens of tools. */
const REMEMBERED = 1024

/**
 * Tells by the name of a tool whether one of these patterns means it. Case does not count, and neither does how words are joined:
 * `edit*` means `Edit`, `MultiEdit`, `str_replace_editor`, `edit-file` and `mcp__files__edit_file`. A pattern fits the whole name, or, if
 * it is not qualified itself, its last part from any of its words to the end. `*` stands for any characters. Only patterns hold stars: a name is taken as it is.
 */
export const toolMatcher = (patterns: readonly string[]): ((tool: string) => boolean) => {
  const whole = anyGlob(patterns.map((pattern) => pattern.toLowerCase()))
  const byWords = anyGlob(patterns.map(inWords).filter((pattern) => pattern !== ''))
  const matches = (tool: string): boolean => {
    return whole(tool.toLowerCase()) || endings(wordsOf(lastPart(tool))).some(byWords)
  }
  const verdicts = new Map<string, boolean>()
  return (tool) => {
    const known = verdicts.get(tool)
    if (known !== undefined) return known
    const verdict = matches(tool)
    if (verdicts.size === REMEMBERED) verdicts.clear()
    verdicts.set(tool, verdict)
    return verdict
  }
}

/** A pattern with its words joined alike, its stars where they are; empty if it has no words, or is qualified itself. */
const inWords = (pattern: string): string => {
  if (wordsOf(pattern).length === 0 || lastPart(pattern) !== pattern) return ''
  const pieces = pattern.split('*').map((piece) => wordsOf(piece).join('_'))
  return pieces.join('*')
}

/** `multi_edit` and `edit` of the words multi, edit. */
const endings = (words: readonly string[]): readonly string[] => words.map((_, first) => words.slice(first).join('_'))
