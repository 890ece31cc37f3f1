import type { Command } from 'guard-gateway/lib/command'
import { globalFlags } from '../flags.ts'

/** A flag as it is typed. */
export interface CompletedFlag {
  readonly spellings: readonly string[]
  readonly meaning: string
  readonly valued: boolean
  /** What its value may be; empty where nobody can tell. */
  readonly choices: readonly string[]
}

/** What can follow the words of a command. */
export interface CompletedCommand {
  readonly id: string
  readonly summary: string
  readonly flags: readonly CompletedFlag[]
  /** Words for its first, second and further arguments; empty where nobody can tell. */
  readonly args: readonly (readonly string[])[]
  /** The last of these arguments may be given several times. */
  readonly many: boolean
}

/** The flags that every command takes. */
export const commonFlags: readonly CompletedFlag[] = Object.entries(globalFlags).map(([spelled, meaning]) =>
  flagOf(spelled, meaning, {}),
)

/** What a command line may say, command by command. */
export const completedCommands = (commands: Iterable<Command>): readonly CompletedCommand[] =>
  [...commands].map(({ id, summary, args = '', options = {}, choices = {} }) => ({
    id,
    summary,
    flags: Object.entries(options).map(([spelled, meaning]) => flagOf(spelled, meaning, choices)),
    args: args.startsWith('[--')
      ? []
      : args
          .split(' ')
          .filter(Boolean)
          .map((arg) => argumentWords(arg, choices)),
    many: args.includes('...'),
  }))

/** The first words of commands, each once. */
export const firstWords = (commands: readonly CompletedCommand[]): readonly string[] => [
  ...new Set(commands.map(({ id }) => id.split(' ', 1)[0] ?? id)),
]

/** The second words of commands that begin with this one. */
export const secondWords = (commands: readonly CompletedCommand[], first: string): readonly string[] =>
  commands.flatMap(({ id }) => (id.startsWith(`${first} `) ? [id.slice(first.length + 1)] : []))

type Choices = NonNullable<Command['choices']>

function flagOf(spelled: string, meaning: string, choices: Choices): CompletedFlag {
  const [names = ''] = spelled.split(/[ =](?=[<[])/, 1)
  const spellings = names.split(/,\s*/)
  return {
    spellings,
    meaning,
    valued: spelled.includes('<'),
    choices: spellings.flatMap((spelling) => choices[spelling] ?? []),
  }
}

/** `<list|allow> ` names its words itself; those of `<scenario>` stand under its name. */
const argumentWords = (arg: string, choices: Choices): readonly string[] => {
  const name = arg.replace(/[<>[\].]/g, '')
  return choices[name] ?? (name.includes('|') ? name.split('|') : [])
}
