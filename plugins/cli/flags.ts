import type { Command } from '#lib/command'
import { suggestion } from './suggestion.ts'

/** Flags that every command takes, with what they mean. */
export const globalFlags: Readonly<Record<string, string>> = {
  '--config <file>': 'configuration file; else GUARD_CONFIG, else ./guard-config.yml',
  '--json [fields]': 'one JSON document instead of text; errors too. Fields, as in --json id,status, choose some of it',
  '--no-color': 'no colours',
  '--no-pager': 'print long results at once; else they go through GUARD_PAGER, PAGER or less',
  '--no-progress': 'no progress line',
  '-q, --quiet': 'no hints and no warnings',
  '--verbose, --debug': 'stack traces with errors',
  '-h, --help': 'show this',
  '-v, --version': 'show the version',
}

/** The flags that a command takes beside those of every command. */
export const ownFlags = ({ options, page }: Pick<Command, 'options' | 'page'>): Readonly<Record<string, string>> => ({
  ...options,
  ...(page === undefined
    ? {}
    : { '--web': 'open the page that shows this in the browser; else its address is printed' }),
})

/** `--port <number>` is called `port` and takes a value. */
export interface Flag {
  readonly name: string
  /** The long one, which cac knows it by. */
  readonly long: string
  /** `-q`, `--quiet`. */
  readonly spellings: readonly string[]
  readonly valued: boolean
  /** May have a value, behind `=`. */
  readonly optional: boolean
  /** May be given several times. */
  readonly many: boolean
}

/** A word, or a flag with its value, as they were typed. */
export type Token =
  | { readonly word: string }
  | {
      readonly word?: undefined
      readonly text: string
      readonly flag: Flag | undefined
      readonly value?: string | undefined
    }

/** The words before the first flag that only a command can know. */
export const leadingWords = (argv: readonly string[]): readonly string[] => {
  const tokens = tokensIn(argv, flagsOf())
  const end = tokens.findIndex((token) => token.word === undefined && token.flag === undefined)
  return tokens.slice(0, end < 0 ? tokens.length : end).flatMap(({ word }) => word ?? [])
}

/** The words and the flags that were typed, and what is wrong with the first flag that cannot be used. */
export const read = (
  argv: readonly string[],
  command?: Command,
): { readonly tokens: readonly Token[]; readonly fault: string | undefined } => {
  const flags = flagsOf(command)
  const tokens = tokensIn(argv, flags)
  const seen = new Set<string>()
  let fault: string | undefined
  for (const token of tokens) {
    if (token.word !== undefined) continue
    const { text, flag, value } = token
    if (flag === undefined) fault ??= unknownFlag(text, flags, command)
    else {
      fault ??= valueFault(text, flag, value, seen.has(flag.name))
      seen.add(flag.name)
    }
  }
  return { tokens, fault }
}

/** The flags that a command takes, those of every command among them. */
const flagsOf = (command?: Command): readonly Flag[] =>
  Object.keys({ ...globalFlags, ...(command && ownFlags(command)) }).map((spelled) => {
    const spellings = spelled.split(/[<[]/, 1)[0]?.match(/-{1,2}[A-Za-z][\w-]*/g) ?? []
    const long = spellings.find((text) => text.startsWith('--')) ?? spellings[0] ?? ''
    return {
      long,
      name: long.replace(/^--no-|^-+/, '').replace(/-([a-z])/g, (_all, letter: string) => letter.toUpperCase()),
      spellings,
      valued: spelled.includes('<'),
      optional: spelled.includes('['),
      many: spelled.includes('...'),
    }
  })

const tokensIn = (argv: readonly string[], flags: readonly Flag[]): readonly Token[] => {
  const tokens: Token[] = []
  const waiting = argv.flatMap((argument) => apart(argument, flags))
  for (let typed = waiting.shift(); typed !== undefined; typed = waiting.shift()) {
    if (isWord(typed)) tokens.push({ word: typed })
    else {
      const [, text = typed, value] = /^(--?[^-=][^=]*)=(.*)$/s.exec(typed) ?? []
      const flag = flagCalled(text, flags)
      tokens.push({ text, flag, value: value ?? (flag?.valued === true ? wordOf(waiting) : undefined) })
    }
  }
  return tokens
}

const isWord = (argument: string): boolean => argument === '-' || !argument.startsWith('-')

/** Takes the next argument if it is a word. */
const wordOf = (waiting: string[]): string | undefined => (isWord(waiting[0] ?? '--') ? waiting.shift() : undefined)

const flagCalled = (text: string, flags: readonly Flag[]): Flag | undefined =>
  flags.find(({ spellings }) => spellings.includes(text))

/** `-qh` is `-q` and `-h`. */
const apart = (argument: string, flags: readonly Flag[]): readonly string[] => {
  const letters = /^-(\w{2,})$/.exec(argument)?.[1] ?? ''
  const short = [...letters].map((letter) => `-${letter}`)
  return letters !== '' && short.every((text) => flagCalled(text, flags)?.valued === false) ? short : [argument]
}

const valueFault = (text: string, { valued, optional, many }: Flag, value: string | undefined, again: boolean) => {
  if (optional) return undefined
  if (!valued) return value === undefined ? undefined : `${text} takes no value.`
  if (value === undefined) return `${text} needs a value.`
  return again && !many ? `${text} is given twice.` : undefined
}

const unknownFlag = (text: string, flags: readonly Flag[], command?: Command): string => {
  const known = flags.flatMap(({ spellings }) => spellings)
  return `Unknown option ${text}${command === undefined ? '' : ` for "${command.id}"`}.${suggestion(text, known)}`
}
