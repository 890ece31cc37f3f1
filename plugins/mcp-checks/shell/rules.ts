import { matchesDenyEntry } from './deny-rules.ts'
import { programName } from './program.ts'
import { runsOthers } from './runners.ts'
import { couldHaveSideEffects, hasSideEffects } from './side-effects.ts'
import { injectsCommands, namedPrograms } from './task-runners.ts'
import { commandsOfFind, isTransparent, searching, wrappedCommand } from './wrapped-commands.ts'
import { canWrap, tellsWrapped, wrapped, wraps } from './wrappers.ts'

/** What a policy allows: the beginning of a command, or with `end` the whole of one. */
export type Allowed = string | { readonly command: string; readonly end?: boolean | undefined }

export interface ShellOptions {
  readonly allow?: readonly Allowed[]
  readonly deny?: readonly string[]
}

/** An entry of a policy, word by word. */
type Entry = readonly string[]

/** An allowed one; `end`: no word may follow. */
interface AllowedEntry {
  readonly words: Entry
  readonly end: boolean
}

type Words = readonly (string | undefined)[]

/** Says what is wrong with a command by its words, as the end of a sentence; undefined for a word that is not known before it runs. */
export type CommandRules = (words: Words) => string | undefined

/** An entry is the beginning of a command, whether or not an asterisk after it says so. */
export const withoutEnd = (text: string): string => text.trim().replace(/(?:\s+\*)+$/, '')

const entriesOf = (texts: readonly string[] = []): readonly Entry[] =>
  texts.map((text) => withoutEnd(text).split(/\s+/)).filter(([first]) => first !== '')

/** The words of an entry, as a policy writes them. */
export const entryText = (entry: Allowed): string => (typeof entry === 'string' ? entry : entry.command)

/** Whether an entry is the whole of a command. */
export const isWhole = (entry: Allowed): boolean => typeof entry !== 'string' && entry.end === true

const allowedOf = (entries: readonly Allowed[]): readonly AllowedEntry[] =>
  entries.flatMap((entry) => entriesOf([entryText(entry)]).map((words) => ({ words, end: isWhole(entry) })))

const fits = (words: Words, { words: entry, end }: AllowedEntry): boolean =>
  (!end || words.length === entry.length) && entry.every((wanted, index) => words[index] === wanted)

/** Commands that run one another, each the next one. */
const MAX_LEVELS = 20

/** Makes the rules of one check ready for use. */
export const rulesOf = (options: ShellOptions): CommandRules => {
  const allow = options.allow === undefined ? undefined : allowedOf(options.allow)
  return rulesAt({ allow, deny: entriesOf(options.deny) }, 0, false)
}

interface Lists {
  readonly allow: readonly AllowedEntry[] | undefined
  readonly deny: readonly Entry[]
}

const rulesAt =
  (lists: Lists, level: number, isWrapped: boolean): CommandRules =>
  (words) => {
    const [first] = words
    if (first === undefined) return 'runs a command whose name is not known before it runs'
    if (level > MAX_LEVELS) return 'runs commands within commands, more than are looked through'
    const within = rulesAt(lists, level + 1, false)
    const own = denied(words, lists.deny)
    if (own !== undefined || lists.allow !== undefined) return own ?? unlisted(words, first, lists.allow ?? [], within)
    return hidden(words, first, within) ?? unwrapped(words, first, isWrapped, rulesAt(lists, level + 1, true))
  }

const denied = (words: Words, deny: readonly Entry[]): string | undefined => {
  const entry = deny.find((one) => matchesDenyEntry(words, one))
  return entry && `runs ${entry.join(' ')}, which is denied`
}

/** What an allowed beginning still leaves to the caller. */
const unlisted = (
  words: Words,
  first: string,
  allow: readonly AllowedEntry[],
  rules: CommandRules,
): string | undefined => {
  const shown = first.slice(0, 60)
  const fitting = allow.filter((entry) => fits(words, entry))
  if (fitting.length === 0) return `runs ${shown}, which is not allowed`
  const [program, args] = [programName(first), words.slice(1)]
  if (isTransparent(program))
    return fitting.some(({ words: { length } }) => length > 1) ? undefined : within(program, args, rules)
  // what the entry itself names is allowed with it
  if (fitting.some((entry) => entry.end || makesMore(program, entry.words.slice(1)))) return undefined
  const named = namedPrograms(program, args).find((one) => rules(one) !== undefined)
  if (named !== undefined) return `makes ${shown} run ${String(named[0]).slice(0, 60)}, which is not allowed`
  return program === 'find' ? searched(args, rules) : acting(shown, makesMore(program, args))
}

/** Whether arguments make a program do more than it is named for. */
const makesMore = (program: string, args: Words): boolean =>
  hasSideEffects(program, args) || injectsCommands(program, args)

const acting = (shown: string, acts: boolean): string | undefined =>
  acts ? `makes ${shown} run, write or delete what its arguments name, which is not allowed` : undefined

/** What is wrong with the command that a program runs for its caller. */
const within = (program: string, args: Words, rules: CommandRules): string | undefined => {
  const inner = wrappedCommand(program, args)
  if (inner === undefined) return `runs ${program}, and what that runs cannot be told`
  const [run = '', ...given] = inner
  // what it reads could be an option
  if (program === 'xargs' && couldHaveSideEffects(programName(run), given)) return acting(run.slice(0, 60), true)
  return inner.length === 0 ? undefined : rules(inner)
}

/** What is wrong with what `find` does with what it finds. */
const searched = (args: Words, rules: CommandRules): string | undefined => {
  const commands = commandsOfFind(args)
  if (commands === undefined || hasSideEffects('find', searching(args))) return acting('find', true)
  return commands.map(rules).find((reason) => reason !== undefined)
}

/** What no list of denied commands can see. */
const hidden = (words: Words, first: string, rules: CommandRules): string | undefined => {
  const [program, args] = [programName(first), words.slice(1)]
  if (program === 'find') return searched(args, rules)
  const isTold =
    !runsOthers(program, args) &&
    !injectsCommands(program, args) &&
    (!wraps(program, args) || tellsWrapped(program, args))
  return isTold ? undefined : `runs ${first.slice(0, 60)}, which can run other commands that no deny sees`
}

/** What is wrong with what a wrapper might run. That of a wrapper within is part of it, or follows words from outside. */
const unwrapped = (words: Words, first: string, isWrapped: boolean, rules: CommandRules): string | undefined => {
  const [program, args] = [programName(first), words.slice(1)]
  if (!wraps(program, args) || (isWrapped && program !== 'xargs')) return undefined
  for (const one of wrapped(program, args)) {
    const reason = rules(one)
    if (reason !== undefined) return reason
  }
  return undefined
}

/** Whether an entry of `allow` leaves it to the caller what is run. */
export const allowsAny = (text: string): boolean => {
  const [first = '', ...rest] = text.trim().split(/\s+/)
  const program = programName(first)
  if (isTransparent(program) || hasSideEffects(program, rest)) return false
  if (rest.length === 0 && canWrap(program)) return true
  if (wraps(program, rest)) return wraps(program, rest.slice(0, 1)) && rest.length < 2
  return runsOthers(program, rest) && (rest.length === 0 || (rest[0] ?? '').startsWith('-'))
}
