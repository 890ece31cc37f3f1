import { programName, runsOthers } from './runners.ts'

export interface ShellOptions {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
}

/** An entry of a policy, word by word. */
type Entry = readonly string[]

/** Says what is wrong with a command by its words, as the end of a sentence; undefined for a word that is not known before it runs. */
export type CommandRules = (words: readonly (string | undefined)[]) => string | undefined

const entriesOf = (texts: readonly string[] = []): readonly Entry[] =>
  texts.map((text) => text.trim().split(/\s+/)).filter(([first]) => first !== '')

const startsWith = (
  words: readonly (string | undefined)[],
  entry: Entry,
  same: (word: string, wanted: string) => boolean,
) =>
  entry.every((wanted, index) => {
    const word = words[index]
    return word !== undefined && (index === 0 ? same(word, wanted) : word === wanted)
  })

const isSame = (word: string, wanted: string): boolean => word === wanted
const isSameProgram = (word: string, wanted: string): boolean => programName(word) === programName(wanted)

/** Whether a word that decides over an entry is not known before it runs. */
const mayStartWith = (words: readonly (string | undefined)[], entry: Entry): boolean => {
  const [first] = words
  if (first === undefined || !isSameProgram(first, entry[0] ?? '')) return false
  return entry.slice(1).every((wanted, index) => index + 1 < words.length && (words[index + 1] ?? wanted) === wanted)
}

/** Makes the rules of one check ready for use. */
export const rulesOf = (options: ShellOptions): CommandRules => {
  const allow = options.allow === undefined ? undefined : entriesOf(options.allow)
  const deny = entriesOf(options.deny)
  return (words) => {
    const [first] = words
    if (first === undefined) return 'runs a command whose name is not known before it runs'
    const shown = first.slice(0, 60)
    const denied = deny.find((entry) => startsWith(words, entry, isSameProgram) || mayStartWith(words, entry))
    if (denied !== undefined) return `runs ${denied.join(' ')}, which is denied`
    if (allow === undefined)
      return runsOthers(programName(first), words.slice(1))
        ? `runs ${shown}, which can run other commands that no deny sees`
        : undefined
    return allow.some((entry) => startsWith(words, entry, isSame)) ? undefined : `runs ${shown}, which is not allowed`
  }
}

/** Whether an entry of `allow` leaves it to the caller what is run. */
export const allowsAny = (text: string): boolean => {
  const [first = '', ...rest] = text.trim().split(/\s+/)
  return runsOthers(programName(first), rest) && (rest.length === 0 || (rest[0] ?? '').startsWith('-'))
}
