import { cac } from 'cac'
import type { Command, Input } from 'guard-gateway/core'
import { globalFlags, prepare, unmarked } from './argv.ts'
import type { HelpSubject } from './help.ts'
import { suggestion } from './nearest.ts'

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
  const prepared = prepare(argv, commands)
  const command = commands.find(({ id }) => id === prepared.id)
  const { args, options } = tokens(prepared.argv, command)
  if (options.version === true && command === undefined) return { kind: 'version', options }
  if (options.help === true && (command !== undefined || prepared.id === '')) {
    return command === undefined ? { kind: 'help', options } : { kind: 'help', topic: command, options }
  }
  if (command === undefined) return withoutCommand(prepared.id, args, options, commands)
  const message = flagFault(options, command) ?? arityFault(args, command)
  return message === undefined
    ? { kind: 'run', command, input: { args, options, rest: prepared.rest }, options }
    : { kind: 'wrong', command, message, options }
}

const tokens = (
  argv: readonly string[],
  command: Command | undefined,
): { args: readonly string[]; options: Record<string, unknown> } => {
  const parser = cac('guard')
  for (const [flag, meaning] of Object.entries(globalFlags)) parser.option(flag, meaning)
  if (command !== undefined) {
    const known = parser.command(`${command.id} ${command.args ?? ''}`.trim())
    for (const [flag, meaning] of Object.entries(command.options ?? {})) known.option(flag, meaning)
  }
  const { args, options } = parser.parse(['node', 'guard', ...argv], { run: false })
  const read = Object.entries(options)
    .filter(([name]) => name !== '--')
    .map(([name, value]) => [name, unmarkedAll(value)])
  return { args: args.map((argument) => unmarked(String(argument))), options: Object.fromEntries(read) }
}

const unmarkedAll = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(unmarkedAll)
  return typeof value === 'string' ? unmarked(value) : value
}

const withoutCommand = (
  id: string,
  [, second]: readonly string[],
  options: Input['options'],
  commands: readonly Command[],
): Parsed => {
  if (id === '') {
    const message = flagFault(options)
    return message === undefined ? { kind: 'help', options } : { kind: 'wrong', message, options }
  }
  const seconds = commands.flatMap((command) =>
    command.id.startsWith(`${id} `) ? [command.id.slice(id.length + 1)] : [],
  )
  if (seconds.length > 0) {
    if (options.help === true) return { kind: 'help', group: id, options }
    const message =
      second === undefined
        ? `"${id}" needs one more word: ${seconds.join(', ')}.`
        : `There is no "${id} ${second}"; there is ${seconds.join(', ')}.${suggestion(second, seconds)}`
    return { kind: 'unknown', message, options }
  }
  const words = commands.flatMap((command) => [command.id, ...command.id.split(' ').slice(0, 1)])
  return { kind: 'unknown', message: `Unknown command "${id}".${suggestion(id, [...new Set(words)])}`, options }
}

/** `--port <number>` is called `port` and takes a value. */
interface Flag {
  readonly name: string
  readonly text: string
  readonly valued: boolean
  /** May be given several times. */
  readonly many: boolean
}

const flagsOf = (command?: Command): readonly Flag[] =>
  Object.keys({ ...globalFlags, ...command?.options }).flatMap((spelled) =>
    (spelled.split('<', 1)[0]?.match(/-{1,2}[A-Za-z][\w-]*/g) ?? []).map((text) => ({
      name: text.replace(/^--no-|^-+/, '').replace(/-([a-z])/g, (_all, letter: string) => letter.toUpperCase()),
      text,
      valued: spelled.includes('<'),
      many: spelled.includes('...'),
    })),
  )

const flagFault = (options: Input['options'], command?: Command): string | undefined => {
  const flags = flagsOf(command)
  for (const [name, value] of Object.entries(options)) {
    const flag = flags.find((candidate) => candidate.name === name)
    const fault = flag === undefined ? unknownFlag(name, flags, command) : valueFault(flag, value)
    if (fault !== undefined) return fault
  }
}

const valueFault = ({ text, valued, many }: Flag, value: unknown): string | undefined => {
  if (!valued) return typeof value === 'boolean' ? undefined : `${text} takes no value.`
  if (Array.isArray(value)) return many ? undefined : `${text} is given twice.`
  return typeof value === 'string' ? undefined : `${text} needs a value.`
}

const unknownFlag = (name: string, flags: readonly Flag[], command?: Command): string => {
  const dashed = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const text = name.length === 1 ? `-${name}` : `--${dashed}`
  return `Unknown option ${text}${command === undefined ? '' : ` for "${command.id}"`}.${suggestion(
    text,
    flags.map((flag) => flag.text),
  )}`
}

/** `<code>` must be there, `[client]` may be, `[...clients]` takes all that follow, `[-- command...]` what stands behind `--` alone. */
const arityFault = (args: readonly string[], command: Command): string | undefined => {
  const [first] = args
  if (first !== undefined && command.args?.startsWith('[--'))
    return `"guard ${command.id}" takes a command behind "--" only, as in "guard ${command.id} -- ${first}".`
  const wanted = command.args?.split(' ') ?? []
  const missing = wanted[args.length]
  if (missing?.startsWith('<')) return `"guard ${command.id}" needs ${missing}.`
  const extra = args[wanted.length]
  if (extra !== undefined && !command.args?.includes('...')) return `"guard ${command.id}" does not take "${extra}".`
}
