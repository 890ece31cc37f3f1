import type { Command } from '#lib/command'
import { globalFlags, ownFlags } from '../flags.ts'

/** What can stand in one place of a command line. */
export interface CompletedValue {
  /** Empty where nobody can tell. */
  readonly words: readonly string[]
  /** The program is asked for what is stored. */
  readonly isStored: boolean
}

/** A flag as it is typed. */
export interface CompletedFlag extends CompletedValue {
  readonly spellings: readonly string[]
  readonly meaning: string
  readonly valued: boolean
}

/** What can follow the words of a command. */
export interface CompletedCommand {
  readonly id: string
  readonly summary: string
  readonly flags: readonly CompletedFlag[]
  /** Its first, second and further arguments. */
  readonly args: readonly CompletedValue[]
  /** The last of these arguments may be given several times. */
  readonly many: boolean
}

/** The flags that every command takes. */
export const commonFlags: readonly CompletedFlag[] = Object.entries(globalFlags).map(([spelled, meaning]) =>
  flagOf(spelled, meaning, {}),
)

/** What a command line may say, command by command. */
export const completedCommands = (commands: Iterable<Command>): readonly CompletedCommand[] =>
  [...commands].map((command) => {
    const { id, summary, args = '' } = command
    return {
      id,
      summary,
      flags: Object.entries(ownFlags(command)).map(([spelled, meaning]) => flagOf(spelled, meaning, command)),
      args: args.startsWith('[--') ? [] : argumentNames(args).map((name) => argumentOf(name, command)),
      many: args.includes('...'),
    }
  })

/** `<id>` and `[...clients]` as the names of what they stand for. */
export const argumentNames = (args: string): readonly string[] =>
  args
    .split(' ')
    .filter(Boolean)
    .map((arg) => arg.replace(/[<>[\].]/g, ''))

/** The first words of commands, each once. */
export const firstWords = (commands: readonly CompletedCommand[]): readonly string[] => [
  ...new Set(commands.map(({ id }) => id.split(' ', 1)[0] ?? id)),
]

/** The second words of commands that begin with this one. */
export const secondWords = (commands: readonly CompletedCommand[], first: string): readonly string[] =>
  commands.flatMap(({ id }) => (id.startsWith(`${first} `) ? [id.slice(first.length + 1)] : []))

type Known = Pick<Command, 'choices' | 'suggestions'>

function flagOf(spelled: string, meaning: string, { choices = {}, suggestions = {} }: Known): CompletedFlag {
  const [names = ''] = spelled.split(/[ =](?=[<[])/, 1)
  const spellings = names.split(/,\s*/)
  return {
    spellings,
    meaning,
    valued: spelled.includes('<'),
    words: spellings.flatMap((spelling) => choices[spelling] ?? []),
    isStored: spellings.some((spelling) => spelling in suggestions),
  }
}

/** `<list|allow> ` names its words itself; those of `<scenario>` stand under its name. */
const argumentOf = (name: string, { choices = {}, suggestions = {} }: Known): CompletedValue => ({
  words: choices[name] ?? (name.includes('|') ? name.split('|') : []),
  isStored: name in suggestions,
})
