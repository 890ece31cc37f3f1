import type { Gateway } from 'guard-gateway/core'
import { type Command, commandKind, type Input, type Io, type Suggestion } from '#lib/command'
import { openInBrowser, terminalWidth } from '#lib/terminal'
import { terminalLine } from '#lib/text'
import { argumentNames } from './completion/words.ts'
import { thrownBy } from './fault.ts'
import { leadingWords, read } from './flags.ts'
import { helpText } from './help.ts'
import { FieldFilter } from './json-fields.ts'
import { throughPager } from './pager.ts'
import { commandIn, type Parsed, parse } from './parse.ts'
import { exitOf, exits, printError, printUsage } from './print.ts'

/** Where a command line finds its commands. */
export interface CommandSource {
  readonly version: string
  /** A gateway of built-in plugins; nothing was read to make it. */
  builtIn(): Promise<Gateway>
  /** The gateway of the configuration, made for this command; `command` is undefined while it is only looked for. */
  configured(options: Input['options'], command: Command | undefined): Promise<Gateway>
  /** The configuration names plugins, which may bring commands. */
  extended(options: Input['options']): Promise<boolean>
  /** The address of the gateway that runs with the configuration. Throws GATEWAY_NOT_RUNNING. */
  address(options: Input['options']): Promise<string>
}

/** Runs one command line; resolves to the exit code. Never throws. */
export const runCli = async (argv: readonly string[], io: Io, source: CommandSource): Promise<number> => {
  let gateway: Gateway | undefined
  let options: Input['options'] = {
    json: argv.includes('--json'),
    verbose: argv.includes('--verbose') || argv.includes('--debug'),
  }
  try {
    gateway = await source.builtIn()
    if (argv[0] === COMPLETE) return await suggest(argv.slice(1), [...gateway.registry(commandKind)], io, source)
    const { parsed, commands, from } = await parseAll(argv, gateway, source)
    options = parsed.options
    gateway = from
    if (parsed.kind !== 'run') return answer(parsed, commands, source.version, io)
    const { command, input } = parsed
    const run = (found: Command): Promise<number> =>
      runCommand(found, input, io, () => source.address(options)).catch((error: unknown) => {
        throw thrownBy(found.id, error, gateway ?? from)
      })
    if (command.standalone === true && !(command.extensible !== undefined && (await source.extended(options))))
      return await run(command)
    const made = await source.configured(options, command).catch((error: unknown) => {
      if (command.extensible === 'if_usable') return undefined
      throw error
    })
    if (made === undefined) return await run(command)
    gateway = made
    const own = gateway.registry(commandKind).get(command.id) ?? (command.standalone === true ? command : undefined)
    return await run(own ?? gateway.registry(commandKind).need(command.id))
  } catch (error) {
    printError(error, options, io, gateway)
    return exitOf(error)
  }
}

/** Commands of the user's own plugins are looked for only where the built-in ones do not answer. */
const parseAll = async (argv: readonly string[], builtIn: Gateway, source: CommandSource) => {
  const first = found(argv, builtIn)
  const { kind, options } = first.parsed
  const overview = first.parsed.kind === 'help' && first.parsed.topic === undefined
  if ((kind !== 'unknown' && !overview) || !(await source.extended(options))) return first
  try {
    return found(argv, await source.configured(options, undefined))
  } catch (error) {
    if (overview) return first
    throw error
  }
}

const found = (argv: readonly string[], from: Gateway) => {
  const commands = [...from.registry(commandKind)]
  return { parsed: parse(commands, argv), commands, from }
}

const answer = (
  parsed: Exclude<Parsed, { kind: 'run' }>,
  commands: readonly Command[],
  version: string,
  io: Io,
): number => {
  if (parsed.kind === 'help') io.out.write(helpText(commands, parsed, terminalWidth(io.out)))
  else if (parsed.kind === 'version')
    io.out.write(parsed.options.json === true ? `${JSON.stringify({ version })}\n` : `${version}\n`)
  else {
    const command = parsed.kind === 'wrong' ? parsed.command : undefined
    printUsage(parsed.message, parsed.options, io, command && `Run "guard ${command.id} --help" for what it takes.`)
    return exits.usage
  }
  return exits.done
}

/** Runs a command with what every command can do: `--web`, chosen fields of `--json`, and the pager. `address`: of the gateway that runs; throws GATEWAY_NOT_RUNNING. */
const runCommand = async (command: Command, input: Input, io: Io, address: () => Promise<string>): Promise<number> => {
  const { jsonFields, web } = input.options
  if (web === true && command.page !== undefined) {
    const running = await address()
    return openInBrowser(running, await command.page(input), input, io)
  }
  if (Array.isArray(jsonFields)) return withFields(command, input, io, jsonFields)
  const { paged = false } = command
  return (typeof paged === 'boolean' ? paged : paged(input))
    ? throughPager(io, input, (collected) => command.run(input, collected))
    : command.run(input, io)
}

const withFields = async (command: Command, input: Input, io: Io, fields: readonly string[]): Promise<number> => {
  const filter = new FieldFilter(fields, io.out)
  const code = await command.run(input, { ...io, out: filter }).catch(async (error: unknown) => {
    await filter.finish()
    throw error
  })
  await filter.finish()
  return code
}

/** The command that completion scripts ask, with the words typed so far; no help names it. */
const COMPLETE = '__complete'

const MAX_SUGGESTIONS = 100

/** Prints what the last of these words may become: a value a line, a tab, and what it is. Never fails: a shell completes nothing then. */
const suggest = async (
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
