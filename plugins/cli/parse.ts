import { cac } from 'cac'
import type { Command, Input } from '#lib/command'
import { globalFlags, leadingWords, ownFlags, read, type Token } from './flags.ts'
import type { HelpSubject } from './help.ts'
import { takeFields } from './json-fields.ts'
import { suggestion } from './suggestion.ts'

/** What a command line asks for. `unknown` is a command that none of those given is. */
export type Parsed = { readonly options: Input['options'] } & (
  | ({ readonly kind: 'help' } & HelpSubject)
  | { readonly kind: 'version' }
  | { readonly kind: 'run'; readonly command: Command; readonly input: Input }
  | { readonly kind: 'unknown'; readonly message: string }
  | { readonly kind: 'wrong'; readonly command?: Command; readonly message: string }
)

/** Reads the arguments of a process (without node and script). Never throws: what is wrong is part of the answer. */
export const parse = (commands: readonly Command[], argv: readonly string[]): Parsed => {
  const { before, after } = parted(argv)
  const words = leadingWords(before)
  const { command, length } = commandIn(words, commands)
  const { tokens: typedTokens, fault } = read(before, command)
  const { tokens, jsonFields } = takeFields(typedTokens, command, length)
  const { args, options: flags } = readByCac(tokens, command)
  const options = jsonFields === undefined ? flags : { ...flags, jsonFields }
  if (options.version === true) return { kind: 'version', options }
  if (command === undefined) return withoutCommand(words, options, fault, commands)
  if (options.help === true) return { kind: 'help', topic: command, options }
  const typed = args.slice(length)
  const input = takesCommand(command)
    ? { args: typed, options, rest: after }
    : { args: [...typed, ...after], options, rest: [] }
  const message = fault ?? fieldsFault(jsonFields) ?? arityFault(input.args, command)
  return message === undefined ? { kind: 'run', command, input, options } : { kind: 'wrong', command, message, options }
}

/** Whether a command line is for this command, whatever flags stand before its name. */
export const begins = (argv: readonly string[], id: string): boolean => {
  const words = leadingWords(parted(argv).before)
  return words.slice(0, id.split(' ').length).join(' ') === id
}

/** The words before `--` and after it; `guard help x` and `guard version` are the flags of that name. */
const parted = (argv: readonly string[]): { readonly before: readonly string[]; readonly after: readonly string[] } => {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  const before = argv.slice(0, end)
  const [first, ...others] = before
  const flags = first === 'help' ? [...others, '--help'] : first === 'version' ? ['--version', ...others] : before
  return { before: flags, after: argv.slice(end + 1) }
}

const fieldsFault = (fields: readonly string[] | undefined): string | undefined => {
  const wrong = fields?.find((name) => !/^\w+(?:\.\w+)*$/.test(name))
  return wrong === undefined ? undefined : `--json takes names of fields, as in --json id,status, not "${wrong}".`
}

/** The longest command that the words begin with, and how many of them it takes. */
export const commandIn = (
  words: readonly string[],
  commands: readonly Command[],
): { readonly command: Command | undefined; readonly length: number } => {
  const called = (id: string): Command | undefined => commands.find((candidate) => candidate.id === id)
  const two = words.slice(0, 2)
  const command = called(two.join(' '))
  return command === undefined ? { command: called(words[0] ?? ''), length: 1 } : { command, length: two.length }
}

/** The words after `--` are a command line of their own; elsewhere it is arguments, whatever they begin with. */
const takesCommand = ({ args }: Command): boolean => args?.startsWith('[--') === true

const withoutCommand = (
  [first, second]: readonly string[],
  options: Input['options'],
  fault: string | undefined,
  commands: readonly Command[],
): Parsed => {
  if (first === undefined) {
    if (options.help === true || fault === undefined) return { kind: 'help', options }
    return { kind: 'wrong', message: fault, options }
  }
  const seconds = commands.flatMap(({ id }) => (id.startsWith(`${first} `) ? [id.slice(first.length + 1)] : []))
  if (seconds.length > 0) {
    if (options.help === true) return { kind: 'help', group: first, options }
    const message =
      second === undefined
        ? `"${first}" needs one more word: ${seconds.join(', ')}.`
        : `There is no "${first} ${second}"; there is ${seconds.join(', ')}.${suggestion(second, seconds)}`
    return { kind: 'unknown', message, options }
  }
  const words = commands.flatMap((command) => [command.id, ...command.id.split(' ').slice(0, 1)])
  return { kind: 'unknown', message: `Unknown command "${first}".${suggestion(first, [...new Set(words)])}`, options }
}

/** `<code>` must be there, `[client]` may be, `[...clients]` takes all that follow, `[-- command...]` the words after `--`. */
const arityFault = (args: readonly string[], command: Command): string | undefined => {
  const [first] = args
  if (first !== undefined && takesCommand(command))
    return `"guard ${command.id}" takes a command after "--" only, as in "guard ${command.id} -- ${first}".`
  const required = command.args?.split(' ') ?? []
  const missing = required[args.length]
  if (missing?.startsWith('<')) return `"guard ${command.id}" needs ${missing}.`
  const extra = args[required.length]
  if (extra !== undefined && !command.args?.includes('...')) return `"guard ${command.id}" does not take "${extra}".`
}

/** Stands before text that must be taken as it is, not as a number or a flag; no argument of a process can hold this character. */
const MARK = '\0'
/** cac knows single words, and what a command is called is settled. */
const COMMAND = 'command'

/** Has cac read a command line that leaves nothing to guess at: words first, then known flags by their long names, values joined to them. Flags that were not typed give no options. */
const readByCac = (tokens: readonly Token[], command?: Command): Pick<Input, 'args' | 'options'> => {
  const parser = cac('guard')
  const known = parser.command(`${COMMAND} [...args]`)
  const flags = { ...globalFlags, ...(command && ownFlags(command)) }
  // a value that may be left out is read by `takeFields`
  for (const [flag, meaning] of Object.entries(flags)) known.option(flag.replace(/ \[.*\]$/, ''), meaning)
  const words = tokens.flatMap(({ word }) => (word === undefined ? [] : [MARK + word]))
  const typed = tokens.flatMap((token) => (token.word === undefined && token.flag !== undefined ? [token] : []))
  const plain = new Set(typed.flatMap(({ flag }) => (flag?.valued === false ? [flag.long] : [])))
  const valued = typed.flatMap(({ flag, value = '' }) =>
    flag?.valued === true ? [`${flag.long}=${MARK}${value}`] : [],
  )
  const { args, options } = parser.parse(['node', 'guard', COMMAND, ...words, ...plain, ...valued], { run: false })
  const names = new Set(typed.flatMap(({ flag }) => flag?.name ?? []))
  return {
    args: args.map(unmarked) as string[],
    options: Object.fromEntries([...names].map((name) => [name, unmarked(options[name])])),
  }
}

const unmarked = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(unmarked)
  return typeof value === 'string' && value.startsWith(MARK) ? value.slice(MARK.length) : value
}
