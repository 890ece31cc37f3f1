import type { Command } from 'guard-gateway/core'

/** Stands before text that the parser must take as it is; no argument of a process can hold this character. */
const MARK = '\0'

/** Flags that every command takes, with what they mean. */
export const globalFlags: Readonly<Record<string, string>> = {
  '--config <file>': 'configuration file; else GUARD_CONFIG, else ./guard-config.yml',
  '--json': 'one JSON document instead of text; errors too',
  '--no-color': 'no colours',
  '--no-progress': 'no progress line',
  '-q, --quiet': 'no hints and no warnings',
  '--verbose, --debug': 'stack traces with errors',
  '-h, --help': 'show this',
  '-v, --version': 'show the version',
}

/** A command line made ready for a parser that knows single words and guesses at types. */
export interface Prepared {
  /** The command's id, as far as words could be found; empty if there is none. */
  readonly id: string
  /** Id as one argument, then everything else; values joined to their flags and marked. */
  readonly argv: readonly string[]
  /** What followed `--`. */
  readonly rest: readonly string[]
}

/** Folds a command of two words into one argument and protects values from being read as numbers or as flags. */
export const prepare = (argv: readonly string[], commands: readonly Command[]): Prepared => {
  const end = argv.indexOf('--')
  const rest = end < 0 ? [] : argv.slice(end + 1)
  const words = spelledOut(end < 0 ? argv : argv.slice(0, end))
  const at = firstWord(words)
  if (at < 0) return { id: '', argv: joined(words, globalFlags), rest }
  const before = joined(words.slice(0, at), globalFlags)
  const typed = words.slice(at)
  const { id, length } = commandIn(typed, commands)
  const command = commands.find((candidate) => candidate.id === id)
  return { id, argv: [id, ...before, ...joined(typed.slice(length), { ...globalFlags, ...command?.options })], rest }
}

/** Whether a command line is for this command, whatever flags stand before its name. */
export const begins = (argv: readonly string[], id: string): boolean => {
  const words = spelledOut(argv)
  const at = firstWord(words)
  return at >= 0 && words.slice(at, at + id.split(' ').length).join(' ') === id
}

/** `guard help x` and `guard version` are the flags of that name. */
const spelledOut = (argv: readonly string[]): readonly string[] => {
  const [first, ...others] = argv
  if (first === 'help') return [...others, '--help']
  return first === 'version' ? ['--version', ...others] : argv
}

/** Where the command begins: the first argument that is neither a flag nor a flag's value. */
const firstWord = (words: readonly string[]): number => {
  const valued = valuedFlags(globalFlags)
  return words.findIndex((word, index) => !word.startsWith('-') && !valued.has(words[index - 1] ?? ''))
}

const valuedFlags = (flags: Readonly<Record<string, string>>): ReadonlySet<string> =>
  new Set(
    Object.keys(flags).flatMap((spelled) =>
      spelled.includes('<') ? (spelled.split('<', 1)[0]?.match(/--[\w-]+/g) ?? []) : [],
    ),
  )

/** The longest command that the words begin with, or else the first word. */
const commandIn = (
  words: readonly string[],
  commands: readonly Command[],
): { readonly id: string; readonly length: number } => {
  const [first = '', second] = words
  const two = `${first} ${second ?? ''}`
  return commands.some(({ id }) => id === two) ? { id: two, length: 2 } : { id: first, length: 1 }
}

/** Joins each flag that takes a value with it, and marks values and a lone `-`. */
const joined = (argv: readonly string[], flags: Readonly<Record<string, string>>): string[] => {
  const valued = valuedFlags(flags)
  const out: string[] = []
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index] ?? ''
    const next = argv[index + 1]
    if (valued.has(argument) && isValue(next)) {
      out.push(`${argument}=${MARK}${next}`)
      index++
    } else out.push(marked(argument, valued))
  }
  return out
}

const isValue = (next: string | undefined): next is string =>
  next !== undefined && (next === '-' || !next.startsWith('-'))

const marked = (argument: string, valued: ReadonlySet<string>): string => {
  if (argument === '-') return `${MARK}-`
  const [flag = ''] = argument.split('=', 1)
  return argument.length > flag.length && valued.has(flag)
    ? `${flag}=${MARK}${argument.slice(flag.length + 1)}`
    : argument
}

/** The text as it was typed. */
export const unmarked = (text: string): string => (text.startsWith(MARK) ? text.slice(1) : text)
