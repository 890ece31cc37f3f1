/** As many words as one may become. */
const MAX_WORDS = 64
/** Lists within one another. */
const MAX_DEPTH = 8

/** What the shell does beside lists: in which order is not looked into. */
const MARKS = /['"\\$`]/
const SERIES = /^([0-9]{1,4})\.\.([0-9]{1,4})$/

interface List {
  readonly words: readonly string[]
  /** Behind its closing brace. */
  readonly end: number
}

/**
 * The words that Bash makes of one with lists in braces, which come in pairs; of a series of numbers its ends.
 * Undefined if that cannot be told or is too much.
 */
export const expandBraces = (word: string): readonly string[] | undefined =>
  MARKS.test(word) ? undefined : expanded(word, 0)?.filter((made) => made !== '')

const expanded = (word: string, depth: number): readonly string[] | undefined => {
  let made: readonly string[] = ['']
  for (let at = 0; at < word.length; ) {
    const open = word.indexOf('{', at)
    if (open === -1) return made.map((start) => start + word.slice(at))
    const list = listAt(word, open, depth)
    if (list === undefined || made.length * list.words.length > MAX_WORDS) return undefined
    const plain = word.slice(at, open)
    made = made.flatMap((start) => list.words.map((one) => start + plain + one))
    at = list.end
  }
  return made
}

const listAt = (word: string, open: number, depth: number): List | undefined => {
  const items: string[] = []
  let level = 0
  let from = open + 1
  for (let at = from; at < word.length && items.length < MAX_WORDS; at++) {
    const one = word[at]
    if (one === '{') level++
    const ends = one === '}' && level-- === 0
    if (!ends && (one !== ',' || level > 0)) continue
    items.push(word.slice(from, at))
    from = at + 1
    if (!ends) continue
    const words = listed(items, depth)
    return words && { words, end: from }
  }
  return undefined
}

const listed = (items: readonly string[], depth: number): readonly string[] | undefined => {
  const [only = ''] = items
  if (items.length === 1) return SERIES.exec(only)?.slice(1)
  if (depth === MAX_DEPTH) return undefined
  const words: string[] = []
  for (const item of items) {
    const made = expanded(item, depth + 1)
    if (made === undefined) return undefined
    words.push(...made)
  }
  return words
}
