import { matchesDenyEntry } from './deny-rules.ts'
import { named, programName } from './program.ts'
import { runsOthers } from './runners.ts'
import { couldHaveSideEffects, hasSideEffects } from './side-effects.ts'
import { commandsOfFind, isTransparent, searching, wrappedCommand } from './wrapped-commands.ts'
import { canWrap, DANGEROUS_ASSIGNMENT, tellsWrapped, wrapped, wraps } from './wrappers.ts'

/** An allowed command prefix, or with `end` an allowed whole command. */
export type Allowed = string | { readonly command: string; readonly end?: boolean | undefined }

export interface ShellOptions {
  readonly allow?: readonly Allowed[]
  readonly deny?: readonly string[]
}

/** An entry of a policy as words. */
type Entry = readonly string[]

/** An allowed entry. `end`: no further word may follow. */
interface AllowedEntry {
  readonly words: Entry
  readonly end: boolean
}

type Words = readonly (string | undefined)[]

/** The violation of a command, as the end of a sentence. A dynamic word is undefined. */
export type CommandRules = (words: Words) => string | undefined

/** An entry is a prefix, with or without a trailing asterisk. */
export const withoutEnd = (text: string): string => text.trim().replace(/(?:\s+\*)+$/, '')

const entriesOf = (texts: readonly string[] = []): readonly Entry[] =>
  texts.map((text) => withoutEnd(text).split(/\s+/)).filter(([first]) => first !== '')

/** The text of an entry in a policy. */
export const entryText = (entry: Allowed): string => (typeof entry === 'string' ? entry : entry.command)

/** True if an entry is a whole command. */
export const isWhole = (entry: Allowed): boolean => typeof entry !== 'string' && entry.end === true

const allowedOf = (entries: readonly Allowed[]): readonly AllowedEntry[] =>
  entries.flatMap((entry) => entriesOf([entryText(entry)]).map((words) => ({ words, end: isWhole(entry) })))

const fits = (words: Words, { words: entry, end }: AllowedEntry): boolean =>
  (!end || words.length === entry.length) && entry.every((expected, index) => words[index] === expected)

/** Maximum nesting of commands that run commands. */
const MAX_LEVELS = 20

/** Compiles the rules of a check. */
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

/** The violation of a command by the allow list, including what an allowed prefix leaves open. */
const unlisted = (
  words: Words,
  first: string,
  allow: readonly AllowedEntry[],
  rules: CommandRules,
): string | undefined => {
  const commandName = named(first)
  const fitting = allow.filter((entry) => fits(words, entry))
  if (fitting.length === 0) return `runs ${commandName}, which is not allowed`
  const [program, args] = [programName(first), words.slice(1)]
  if (isTransparent(program))
    return fitting.some(({ words: { length } }) => length > 1) ? undefined : within(program, args, rules)
  // side effects that the entry itself names are allowed
  if (fitting.some((entry) => entry.end || makesMore(program, entry.words.slice(1)))) return undefined
  const other = namedPrograms(program, args).find((one) => rules(one) !== undefined)
  if (other !== undefined) return `makes ${commandName} run ${named(String(other[0]))}, which is not allowed`
  return program === 'find' ? searched(args, rules) : acting(commandName, makesMore(program, args))
}

/** True if arguments make a program have side effects or run other commands. */
const makesMore = (program: string, args: Words): boolean =>
  hasSideEffects(program, args) || injectsCommands(program, args)

const acting = (commandName: string, acts: boolean): string | undefined =>
  acts ? `makes ${commandName} run, write or delete what its arguments name, which is not allowed` : undefined

/** The violation of a wrapped command. */
const within = (program: string, args: Words, rules: CommandRules): string | undefined => {
  const inner = wrappedCommand(program, args)
  if (inner === undefined) return `runs ${named(program)}, and what that runs cannot be told`
  const [run = '', ...given] = inner
  // xargs input could be an option
  if (program === 'xargs' && couldHaveSideEffects(programName(run), given)) return acting(named(run), true)
  return inner.length === 0 ? undefined : rules(inner)
}

/** The violation of the commands that `find` runs. */
const searched = (args: Words, rules: CommandRules): string | undefined => {
  const commands = commandsOfFind(args)
  if (commands === undefined || hasSideEffects('find', searching(args))) return acting('find', true)
  return commands.map(rules).find((reason) => reason !== undefined)
}

/** The violation of a command that a deny list cannot see through. */
const hidden = (words: Words, first: string, rules: CommandRules): string | undefined => {
  const [program, args] = [programName(first), words.slice(1)]
  if (program === 'find') return searched(args, rules)
  const isReported =
    !runsOthers(program, args) &&
    !injectsCommands(program, args) &&
    (!wraps(program, args) || tellsWrapped(program, args))
  return isReported ? undefined : `runs ${named(first)}, which can run other commands that no deny sees`
}

/** The violation of a wrapped command. A nested wrapper is part of it, except for the input of xargs. */
const unwrapped = (words: Words, first: string, isWrapped: boolean, rules: CommandRules): string | undefined => {
  const [program, args] = [programName(first), words.slice(1)]
  if (!wraps(program, args) || (isWrapped && program !== 'xargs')) return undefined
  for (const one of wrapped(program, args)) {
    const reason = rules(one)
    if (reason !== undefined) return reason
  }
  return undefined
}

/** True if an allowed entry lets the caller choose what runs. */
export const allowsAny = (text: string): boolean => {
  const [first = '', ...rest] = text.trim().split(/\s+/)
  const program = programName(first)
  if (isTransparent(program) || hasSideEffects(program, rest)) return false
  if (rest.length === 0 && canWrap(program)) return true
  if (wraps(program, rest)) return wraps(program, rest.slice(0, 1)) && rest.length < 2
  return runsOthers(program, rest) && (rest.length === 0 || (rest[0] ?? '').startsWith('-'))
}

/** Programs that paste their words into a shell command. True: make syntax, where `$(…)` refers to a variable. */
const PASTING: ReadonlyMap<string, boolean> = new Map([
  ...['make', 'bmake', 'pmake', 'remake', 'mingw32-make'].map((name) => [name, true] as const),
  ...['just', 'task', 'rake', 'invoke', 'inv', 'fab', 'doit', 'earthly'].map((name) => [name, false] as const),
])

/** The text outside of quotes. Undefined if quotes are open at the end. */
const outsideQuotes = (text: string): string | undefined => {
  const plain = text.replace(/\\[\s\S]|"(?:\\[\s\S]|[^"\\])*"|'[^']*'/g, '')
  return /["'\\]/.test(plain) ? undefined : plain
}

/** True if a pasted text could be more than words of the command. */
const breaksOut = (text: string, isMake: boolean): boolean => {
  if (/[\n\r`]/.test(text) || /\$\$?\(\(|\$\$|[<>]\(/.test(text)) return true
  // a variable reference of make is no command substitution
  const substituted = isMake ? text.replace(/\$\([\w.-]+\)|\$\{[\w.-]+\}/g, '') : text
  if (/\$[({]/.test(substituted)) return true
  const plain = outsideQuotes(substituted)
  return plain === undefined || /[;|&<>()]|(?:^|\s)#/.test(plain)
}

const ASSIGNMENT = /^([A-Za-z_.][\w.-]*)\s*[:?+]{0,3}=\s*(.*)$/s

/** True if words make a task runner run other commands than its tasks. `args` has undefined for dynamic words. */
const injectsCommands = (program: string, args: Words): boolean => {
  const isMake = PASTING.get(program)
  if (isMake === undefined) return false
  return args.some((word) => {
    if (word === undefined) return false
    if (breaksOut(word, isMake)) return true
    const [, name, value = ''] = ASSIGNMENT.exec(word) ?? []
    return name !== undefined && (DANGEROUS_ASSIGNMENT.test(`${name}=`) || isCommand(value) || isFlag(name, value))
  })
}

const wordsOf = (text: string): readonly string[] =>
  [...text.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) => word.replace(/["']/g, ''))

/** True if a value is a command that runs others. */
const isCommand = (value: string): boolean => {
  const [first, ...rest] = wordsOf(value)
  return first !== undefined && rest.length > 0 && (runsOthers(first, rest) || wraps(first, rest))
}

const TOOLS = ['gcc', 'go', 'rustc']

/** True if a value has compiler options that run something. */
const isFlag = (name: string, value: string): boolean =>
  /FLAGS$|OPTIONS$|OPTS$/.test(name) && TOOLS.some((tool) => hasSideEffects(tool, wordsOf(value)))

/** Makefile variables for programs. */
const PROGRAMS =
  /^(?:(?:HOST|BUILD|CROSS)?_?(?:CC|CXX|CPP|LD|AR|AS|NM|STRIP|RANLIB|OBJCOPY|OBJDUMP)|FC|F77|RM|CP|MV|LN|MKDIR|INSTALL(?:_\w+)?|SED|AWK|GREP|TAR|CURL|WGET|GIT|SH|BASH|PYTHON\d*|PIP\d*|NODE|NPM|NPX|YARN|PNPM|GO|CARGO|RUSTC|RUBY|PERL|PHP|JAVA|JAVAC|MVN|GRADLE|DOCKER|PODMAN|KUBECTL|HELM|TERRAFORM|CMAKE|NINJA|PYTEST|JEST|ESLINT|TSC|LEX|FLEX|YACC|BISON|\w*TEX|PKG_CONFIG|SUDO|EXEC|RUN|RUNNER|WRAPPER|LAUNCHER|CMD|COMMAND|\w+_(?:CMD|COMMAND|BIN|EXE|EXEC|RUN|RUNNER|WRAPPER|LAUNCHER|TOOL|PROG|PROGRAM))$/i

/** Programs of a usual toolchain. */
const TOOLCHAIN =
  /^(?:\/usr\/(?:local\/)?bin\/)?(?:(?:[\w]+-)*(?:gcc|g\+\+|cc|c\+\+|cpp|clang|clang\+\+|tcc|icc|icx|mpicc|mpicxx|ld|ld\.\w+|lld|mold|gold|ar|as|nm|strip|ranlib|objcopy|objdump|gfortran|flang|nasm|yasm)(?:-?[0-9.]+)?|ccache|sccache|distcc|go|cargo|rustc|python[0-9.]*|node|npm|pnpm|yarn|pytest|docker|podman|true|false)$/

/** The commands in make variables for programs, except usual toolchains. */
const namedPrograms = (program: string, args: Words): readonly Words[] => {
  if (PASTING.get(program) !== true) return []
  return args.flatMap((word) => {
    const [, name = '', value = ''] = ASSIGNMENT.exec(word ?? '') ?? []
    const words = wordsOf(value)
    const [first] = words
    return first === undefined || !PROGRAMS.test(name) || TOOLCHAIN.test(first) ? [] : [words]
  })
}
