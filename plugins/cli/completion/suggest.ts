import { type Command, commandKind, type Io, type Suggestion } from 'guard-gateway/lib/command'
import { terminalLine } from 'guard-gateway/lib/text'
import { leadingWords, read } from '../flags.ts'
import { commandIn } from '../parse.ts'
import type { CommandSource } from '../run.ts'
import { argumentNames } from './words.ts'

/** The command that completion scripts ask, with the words typed so far; no help names it. */
export const COMPLETE = '__complete'

const MAX_SUGGESTIONS = 100

/** Prints what the last of these words may become: a value a line, a tab, and what it is. Never fails: a shell completes nothing then. */
export const suggest = async (
  words: readonly string[],
  commands: readonly Command[],
  io: Io,
  source: CommandSource,
): Promise<0> => {
  const typed = words.at(-1) ?? ''
  try {
    const found = placeOf(words.slice(0, -1), commands)
    if (found === undefined) return 0
    const gateway = await source.configured(found.options, found.command)
    const { suggestions = {} } = gateway.registry(commandKind).get(found.command.id) ?? found.command
    const offered = (await suggestions[found.name]?.({ args: found.args })) ?? []
    const fitting = offered.filter(({ value }) => value.startsWith(typed)).slice(0, MAX_SUGGESTIONS)
    io.out.write(fitting.map((one) => `${lineOf(one)}\n`).join(''))
  } catch {
    // no gateway, no configuration, no storage: there is nothing to offer
  }
  return 0
}

interface Place {
  readonly command: Command
  /** The flag or the argument whose value is typed. */
  readonly name: string
  readonly args: readonly string[]
  readonly options: Readonly<Record<string, unknown>>
}

/** What is typed behind these words; undefined where nothing stored can stand. */
const placeOf = (before: readonly string[], commands: readonly Command[]): Place | undefined => {
  const { command, length } = commandIn(leadingWords(before), commands)
  if (command?.suggestions === undefined) return undefined
  const { tokens } = read(before, command)
  const args = tokens.flatMap(({ word }) => word ?? []).slice(length)
  const options = Object.fromEntries(
    tokens.flatMap((token) =>
      token.word === undefined && token.flag?.name === 'config' ? [['config', token.value]] : [],
    ),
  )
  const last = tokens.at(-1)
  const isValue =
    last !== undefined && last.word === undefined && last.flag?.valued === true && last.value === undefined
  const names = argumentNames(command.args ?? '')
  const name = isValue ? last.text : (names[args.length] ?? (command.args?.includes('...') ? names.at(-1) : undefined))
  return name === undefined ? undefined : { command, name, args, options }
}

const lineOf = ({ value, meaning }: Suggestion): string =>
  meaning === undefined || meaning === '' ? terminalLine(value) : `${terminalLine(value)}\t${terminalLine(meaning)}`
